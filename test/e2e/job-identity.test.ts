/** The identity of a job in a real installation: a step on an agent proves itself to a verifier outside. */
import { createServer, type Server } from "node:http";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { expect } from "chai";
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from "jose";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { freePort } from "../support/ports.ts";
import { ProcessWorld } from "../support/processes.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

/** Asks for tokens, keeps one for an agent, brings the other to the cloud, prints all of the job's tokens, and reads the API. */
const SCRIPT = `
import { writeFileSync } from "node:fs";
async function askFor(audience) {
  const answer = await fetch(process.env.MILLRACE_ID_TOKEN_REQUEST_URL, {
    method: "POST",
    headers: { authorization: "Bearer " + process.env.MILLRACE_ID_TOKEN_REQUEST_TOKEN, "content-type": "application/json" },
    body: JSON.stringify({ audience }),
  });
  return (await answer.json()).detail.token;
}
const token = await askFor("the cloud");
writeFileSync(process.env.TOKEN_FILE, await askFor("agents"), { mode: 0o600 });
const cloud = await fetch(process.env.CLOUD, { headers: { authorization: token } });
const own = await fetch(process.env.MILLRACE_API_URL + "/pipelines", { headers: { authorization: "Bearer " + process.env.MILLRACE_TOKEN } });
console.log(cloud.status, own.status, process.env.MILLRACE_ID_TOKEN_REQUEST_TOKEN, process.env.MILLRACE_TOKEN);
process.exitCode = cloud.status === 200 && own.status === 200 ? 0 : 1;
`;

describe("a job with permissions", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let redis: TestRedis;
  let cloud: Server;
  const trusted: JWTPayload[] = [];
  const seen: string[] = [];
  after(async () => {
    cloud?.close();
    await world?.end();
    await redis?.stop();
  });

  it("is trusted by a service that knows the address of the installation only, and lets an agent register; its log shows no token", async () => {
    [world, redis] = await Promise.all([ProcessWorld.create(), startTestRedis()]);
    const installation = await EmbeddedInstallation.create(world);
    const address = `127.0.0.1:${await freePort()}`;
    const issuer = `http://${address}`;
    cloud = createServer((request, response) => {
      void verified(request.headers.authorization ?? "").then(
        (claims) => {
          trusted.push(claims);
          response.end();
        },
        () => response.writeHead(403).end(),
      );
    });
    async function verified(token: string): Promise<JWTPayload> {
      seen.push(token);
      const found = await fetch(`${issuer}/.well-known/openid-configuration`);
      const { jwks_uri: keys } = (await found.json()) as { jwks_uri: string };
      const options = { issuer, audience: "the cloud", algorithms: ["RS256"] };
      return (await jwtVerify(token, createRemoteJWKSet(new URL(keys)), options)).payload;
    }
    cloud.listen(0, "127.0.0.1");
    await once(cloud, "listening");
    const issuers = join(world.folder, "issuers.json");
    const own = { id: "own", issuer: "self", audience: "agents", claims: { job: "deploy" }, labels: { pool: "own" } };
    await writeFile(issuers, JSON.stringify({ issuers: [own] }));
    await installation.serve(join(world.folder, "data"), {
      MILLRACE_WORKLOAD_ISSUERS_FILE: issuers,
      REDIS_URL: redis.url,
      MILLRACE_HTTP_ADDRESS: address,
      MILLRACE_PUBLIC_URL: issuer,
      LOG_LEVEL: "debug",
    });
    const agent = await installation.agent("one");
    const tokenFile = join(world.folder, "agent-token");
    const pipelineId = await installation.pipeline("identity", [
      {
        name: "deploy",
        permissions: { idToken: true, api: "read" },
        target: { environment: "live" },
        env: { CLOUD: `http://127.0.0.1:${(cloud.address() as AddressInfo).port}`, TOKEN_FILE: tokenFile, SCRIPT },
        steps: [
          { name: "s", uses: "shell", args: { script: `"${process.execPath}" --input-type=module -e "$SCRIPT"` } },
        ],
      },
    ]);
    const { runId } = await installation.api.trigger(pipelineId, {});
    const run = await until("the run ends", async () => {
      const { detail } = (await installation.call("GET", `/pipelines/runs/${runId}`)).body;
      return detail.endTime === null ? undefined : detail;
    });
    expect(run.status).to.equal("success");
    expect(trusted).to.have.length(1);
    expect(trusted[0]).to.include({ run_id: runId, environment: "live", job: "deploy" });
    const proven = world.start(["agent", "--gateway", installation.grpc, "--identity-token-file", tokenFile], {
      env: { MILLRACE_AGENT_NAME: "proven", MILLRACE_DATA_DIR: join(world.folder, "agent-proven"), LOG_LEVEL: "debug" },
    });
    await proven.prints("welcomes this agent");
    const { list: agents } = (await installation.call("GET", "/agents")).body.detail;
    expect(agents.find(({ name }: { name: string }) => name === "proven")).to.deep.include({
      online: true,
      trusted: ["pool"],
    });
    const folder = join(world.folder, "data");
    const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((file) => file.isFile());
    const contents = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), "latin1")));
    expect(contents.join(), "the stored log").to.include("200 200 *** ***");
    const printed = [agent, proven, installation.node.process].flatMap(({ stdout, stderr }) => [stdout, stderr]);
    expect([...contents, ...printed].join(), "a token").to.not.match(/eyJ[\w-]+\.eyJ/);
    expect(seen).to.have.length(1);
  });
});
