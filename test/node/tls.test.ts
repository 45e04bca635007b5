import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { get } from "node:https";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import type { TLSSocket } from "node:tls";
import { join } from "node:path";
import { credentials, status } from "@grpc/grpc-js";
import { expect } from "chai";
import { HealthClient } from "../../proto/generated/grpc/health/v1/health.ts";
import { type GatewayClients, openGatewayClients } from "../../src/agent/connection/gateway-clients.ts";
import { MillraceError } from "../../src/domain/errors.ts";
import { type AgentId, asId } from "../../src/domain/ids.ts";
import type { Logger } from "../../src/domain/logger.ts";
import { createListener } from "../../src/http/server/listener.ts";
import { TlsFiles } from "../../src/node/tls-files.ts";
import type { TlsFileNames } from "../../src/settings/tls.ts";
import { bearer, Channel, Gateway, invoke, refusal } from "../grpc/gateway.ts";
import { type Certificate, makeCertificate } from "../support/certificates.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { openTestNodes } from "../support/nodes.ts";
import { until } from "../support/until.ts";

const authority = makeCertificate({ name: "authority" });
const otherAuthority = makeCertificate({ name: "other authority" });
const server = makeCertificate({ name: "server", issuer: authority });

describe("a listener with TLS", () => {
  const closings: (() => unknown)[] = [];
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-tls-"));
  });
  afterEach(async () => {
    for (const close of closings.splice(0).toReversed()) await close();
    await rm(folder, { recursive: true });
  });

  async function save(name: string, text: string): Promise<string> {
    const file = join(folder, name);
    // Renaming keeps a look from finding half of a file, which it would log.
    await writeFile(`${file}.new`, text);
    await rename(`${file}.new`, file);
    return file;
  }

  async function filesOf(
    { certificate, key }: Certificate,
    clientCa: Certificate | null = null,
  ): Promise<TlsFileNames> {
    return {
      prefix: "MILLRACE_GRPC_TLS",
      certificateFile: await save("server.pem", certificate),
      keyFile: await save("server.key", key),
      clientCaFile: clientCa && (await save("clients.pem", clientCa.certificate)),
    };
  }

  async function openFiles(names: TlsFileNames, log: Logger = silentLog): Promise<TlsFiles> {
    const files = await TlsFiles.open(names, { log, lookEveryMs: 10 });
    closings.push(() => files.close());
    return files;
  }

  async function startGateway(names: TlsFileNames): Promise<Gateway> {
    const gateway = await Gateway.start({ tls: await openFiles(names) });
    closings.push(() => gateway.stop());
    return gateway;
  }

  /** Opens an agent's connection, as `millrace agent` does. */
  async function connect(port: number, tls: Parameters<typeof openGatewayClients>[0]["tls"]): Promise<GatewayClients> {
    const clients = await openGatewayClients({ address: `localhost:${port}`, ...(tls === undefined ? {} : { tls }) });
    closings.push(() => clients.close());
    return clients;
  }

  async function asClient(certificate: Certificate) {
    const { name } = certificate;
    return {
      certificateFile: await save(`${name}.pem`, certificate.certificate),
      keyFile: await save(`${name}.key`, certificate.key),
    };
  }

  const register = (gateway: Gateway, { agent }: GatewayClients, name: string) =>
    gateway
      .registrationToken()
      .then((token) => invoke(agent, "register", { name, slots: 1, labels: {}, version: "1" }, token));

  /** The name in the certificate of the server at this port. */
  function subjectAt(port: number): Promise<string> {
    return new Promise((resolve, reject) => {
      const request = get({ host: "127.0.0.1", port, ca: authority.certificate, agent: false }, (response) => {
        const { subject } = (response.socket as TLSSocket).getPeerCertificate();
        resolve(String(subject.CN));
        response.resume();
      });
      request.on("error", reject);
    });
  }

  it("serves agents that trust its authority, and no agent without encryption", async () => {
    const gateway = await startGateway(await filesOf(server));
    const trusting = await connect(gateway.port, { caFile: await save("ca.pem", authority.certificate) });
    expect((await register(gateway, trusting, "one")).agentToken).to.be.a("string");
    for (const tls of [{}, { caFile: await save("other.pem", otherAuthority.certificate) }, undefined]) {
      const refused = await refusal(register(gateway, await connect(gateway.port, tls), "two"));
      expect(refused.code).to.equal(status.UNAVAILABLE);
    }
  });

  it("refuses callers without a certificate of its client authorities", async () => {
    const gateway = await startGateway(await filesOf(server, authority));
    const caFile = await save("ca.pem", authority.certificate);
    const known = await asClient(makeCertificate({ name: "known", issuer: authority }));
    const unknown = await asClient(makeCertificate({ name: "unknown", issuer: otherAuthority }));
    const expired = await asClient(makeCertificate({ name: "expired", issuer: authority, days: -1 }));
    expect((await register(gateway, await connect(gateway.port, { caFile, client: known }), "one")).agentId).to.be.a(
      "string",
    );
    for (const tls of [{ caFile }, { caFile, client: unknown }, { caFile, client: expired }]) {
      const refused = await refusal(register(gateway, await connect(gateway.port, tls), "two"));
      expect(refused.code).to.equal(status.UNAVAILABLE);
    }
    // A certificate does not replace a token.
    const { agent } = await connect(gateway.port, { caFile, client: known });
    const refused = await refusal(invoke(agent, "unregister", {}, await gateway.registrationToken()));
    expect(refused.code).to.equal(status.PERMISSION_DENIED);
  });

  it("takes a renewed certificate from its files while streams continue", async () => {
    const names = await filesOf(server);
    const gateway = await startGateway(names);
    const caFile = await save("ca.pem", authority.certificate);
    const clients = await connect(gateway.port, { caFile });
    const { agentToken, agentId } = await register(gateway, clients, "long-lived");
    gateway.agents = () => clients.agent;
    const stream = await Channel.open(gateway, { agentId: asId<AgentId>(agentId), metadata: bearer(agentToken) });

    await filesOf(makeCertificate({ name: "server", issuer: otherAuthority }));
    const otherCa = Buffer.from(otherAuthority.certificate);
    await until("the new certificate is shown", async () => {
      const prober = new HealthClient(`localhost:${gateway.port}`, credentials.createSsl(otherCa));
      const ready = await new Promise((resolve) => prober.waitForReady(Date.now() + 200, resolve));
      prober.close();
      return ready === undefined;
    });
    await stream.beat();
    expect(stream.status, "of the stream under the old certificate").to.equal(undefined);
    stream.cancel();
  });

  it("keeps the old certificate while key and certificate differ, and logs it once", async () => {
    const warnings: object[] = [];
    const names = await filesOf(server);
    const files = await openFiles(names, { ...silentLog, warn: (fields: object) => void warnings.push(fields) });
    const next = makeCertificate({ name: "next", issuer: authority });
    await save("server.pem", next.certificate);
    await until("the warning", () => warnings.length > 0);
    expect(JSON.stringify(warnings)).to.include("this is not the key of the certificate");
    expect(files.current.certificate.toString()).to.equal(server.certificate);
    let renewals = 0;
    files.onRenewal(() => renewals++);
    await save("server.key", next.key);
    await until("the renewal", () => renewals > 0);
    expect(files.current.certificate.toString()).to.equal(next.certificate);
    expect(warnings).to.have.length(1);
  });

  it("serves HTTP, also after a renewal", async () => {
    const files = await openFiles(await filesOf(server));
    const listener = createListener(files, {}, (_, response) => response.end("hello")).listen(0, "127.0.0.1");
    closings.push(() => new Promise((resolve) => listener.close(resolve)));
    await once(listener, "listening");
    const { port } = listener.address() as AddressInfo;
    expect(await subjectAt(port)).to.equal("server");
    await filesOf(makeCertificate({ name: "renewed", issuer: authority }));
    await until("the new certificate is shown", async () => (await subjectAt(port)) === "renewed");
  });

  it("serves the API, the gateway and the metrics of a node by configuration", async () => {
    const { certificateFile, keyFile } = await filesOf(server);
    const variables = Object.fromEntries(
      ["HTTP", "GRPC", "METRICS"].flatMap((listener) => [
        [`MILLRACE_${listener}_TLS_CERT_FILE`, certificateFile],
        [`MILLRACE_${listener}_TLS_KEY_FILE`, keyFile],
      ]),
    );
    const nodes = await openTestNodes({ shards: 1 });
    closings.push(() => nodes.close());
    const { http, grpc, metrics } = await nodes.start("edge,gateway,worker", variables);
    const fetchSecurely = (url: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const request = get(url, { ca: authority.certificate, agent: false }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        request.on("error", reject);
      });
    expect(await fetchSecurely(`https://${http}/healthz`)).to.equal(200);
    expect(await fetchSecurely(`https://${metrics}/metrics`)).to.equal(200);
    const prober = new HealthClient(
      grpc!.replace("127.0.0.1", "localhost"),
      credentials.createSsl(Buffer.from(authority.certificate)),
    );
    closings.push(() => prober.close());
    const probe = () =>
      new Promise((resolve, reject) => {
        prober.check({ service: "" }, (error, answer) => (error === null ? resolve(answer.status) : reject(error)));
      });
    await until("the gateway is ready", async () => (await probe()) === "SERVING");
    for (const url of [`http://${http}/healthz`, `http://${metrics}/metrics`]) {
      expect(await fetch(url).catch(() => "refused"), url).to.equal("refused");
    }
  });

  it("refuses unusable files at the start, and names the variable and the file", async () => {
    const good = await filesOf(server, authority);
    const text = await save("text.pem", "no certificate");
    const foreign = await save("foreign.key", otherAuthority.key);
    const missing = join(folder, "missing.pem");
    const cases: [Partial<TlsFileNames>, string[]][] = [
      [{ certificateFile: missing }, ["MILLRACE_GRPC_TLS_CERT_FILE", missing, "ENOENT"]],
      [{ certificateFile: text }, ["MILLRACE_GRPC_TLS_CERT_FILE", text, "a certificate in PEM"]],
      [{ certificateFile: folder }, ["MILLRACE_GRPC_TLS_CERT_FILE", folder, "EISDIR"]],
      [{ keyFile: good.certificateFile }, ["MILLRACE_GRPC_TLS_KEY_FILE", "a private key without a passphrase in PEM"]],
      [{ keyFile: foreign }, ["MILLRACE_GRPC_TLS_KEY_FILE", foreign, "not the key of the certificate"]],
      [{ clientCaFile: text }, ["MILLRACE_GRPC_TLS_CLIENT_CA_FILE", text, "certificates in PEM"]],
    ];
    for (const [change, words] of cases) {
      const error = await TlsFiles.open({ ...good, ...change }, { log: silentLog }).then(
        () => undefined,
        (refused: unknown) => refused,
      );
      expect(error, JSON.stringify(change)).to.be.instanceOf(MillraceError);
      for (const word of words) expect((error as MillraceError).message).to.include(word);
      expect((error as MillraceError).message).not.to.include("PRIVATE KEY");
    }
  });

  it("logs a warning about a certificate that is not valid now", async () => {
    const warnings: object[] = [];
    const old = makeCertificate({ name: "old", issuer: authority, days: -1 });
    await openFiles(await filesOf(old), { ...silentLog, warn: (fields: object) => void warnings.push(fields) });
    expect(JSON.stringify(warnings)).to.include("server.pem");
  });
});
