/** Mutual TLS between agents and a gateway, in real processes. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { makeCertificate } from "../support/certificates.ts";
import { ProcessWorld } from "../support/processes.ts";

const REGISTRATION_TOKEN = `mrr_${"0123456789".repeat(4)}`;

describe("a gateway that requires client certificates", function () {
  this.timeout(90_000);
  let world: ProcessWorld;
  before(async () => {
    world = await ProcessWorld.create();
  });
  after(() => world.end());

  async function save(name: string, text: string): Promise<string> {
    const file = join(world.folder, name);
    await writeFile(file, text, { mode: 0o600 });
    return file;
  }

  it("accepts an agent with a certificate and refuses an agent without one", async () => {
    const authority = makeCertificate({ name: "authority" });
    const [server, client] = ["server", "agent"].map((name) => makeCertificate({ name, issuer: authority }));
    const ca = await save("ca.pem", authority.certificate);
    const node = await world.serve("edge,gateway,worker", {
      env: {
        MILLRACE_REGISTRATION_TOKEN: REGISTRATION_TOKEN,
        MILLRACE_GRPC_TLS_CERT_FILE: await save("server.pem", server!.certificate),
        MILLRACE_GRPC_TLS_KEY_FILE: await save("server.key", server!.key),
        MILLRACE_GRPC_TLS_CLIENT_CA_FILE: ca,
      },
    });
    const env = { MILLRACE_REGISTRATION_TOKEN: REGISTRATION_TOKEN, LOG_LEVEL: "info" };
    const trusting = { ...env, MILLRACE_GATEWAY_CA_FILE: ca };
    const gateway = node.grpc!.replace("127.0.0.1", "localhost");
    const anonymous = world.agent(gateway, { env: { ...trusting, MILLRACE_AGENT_NAME: "anonymous" } });
    await anonymous.prints("certificate required");
    const known = world.agent(gateway, {
      env: {
        ...trusting,
        MILLRACE_AGENT_NAME: "known",
        MILLRACE_GATEWAY_CERT_FILE: await save("agent.pem", client!.certificate),
        MILLRACE_GATEWAY_KEY_FILE: await save("agent.key", client!.key),
      },
    });
    await known.prints('"msg":"ready"');
    expect(anonymous.stdout + anonymous.stderr).not.to.contain('"msg":"ready"');
  });
});
