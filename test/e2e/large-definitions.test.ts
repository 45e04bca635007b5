/** Large definitions of one user, in the compiled program: the threads that check them, and what others notice. */
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { expect } from "chai";
import { PipelineClient } from "../../proto/generated/pipeline/v1/pipeline.ts";
import { Installation } from "../attack/installation.ts";

const JOBS = 200;
const AT_ONCE = 20;
/** Without threads, this is one validation or more: seconds on a machine that does other work, too. */
const WORST_PROBE_MS = 1_000;
const PROBE_EVERY_MS = 50;

const steps = Array.from({ length: 5 }, (_, at) => ({
  name: `step ${at}`,
  uses: "shell",
  args: { script: "echo ${{ run.id }}" },
  when: "variables.a == 'x'",
}));
const jobs = Array.from({ length: JOBS }, (_, at) => ({ name: `job-${at}`, steps }));
const LARGE = JSON.stringify({ spec: { variables: { a: "x" }, jobs } });

describe("large definitions", function () {
  this.timeout(120_000);
  let installation: Installation;
  let url: string;
  let tokens: Installation["addresses"]["tokens"];
  let path: string;

  async function call(route: string, token: string, body: string): Promise<Response> {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    return fetch(`${url}/api/v1${route}`, { method: "POST", headers, body });
  }

  before(async () => {
    installation = await Installation.start();
    ({ url, tokens } = installation.addresses);
    const made = await call("/pipelines", tokens.maintainer, JSON.stringify({ name: "large" }));
    const { detail } = (await made.json()) as { detail: { pipelineId: string } };
    path = `/pipelines/${detail.pipelineId}`;
  });
  after(() => installation?.stop());

  it("of one user are refused when there are too many, and keep neither health nor another user waiting", async () => {
    const delays: number[] = [];
    let done = false;
    const probing = (async () => {
      while (!done) {
        const begun = performance.now();
        await (await fetch(installation.health.url)).arrayBuffer();
        delays.push(performance.now() - begun);
        await pause(PROBE_EVERY_MS);
      }
    })();
    const answers = Array.from({ length: AT_ONCE }, () => call(`${path}/spec/validate`, tokens.viewer, LARGE));
    const first = await Promise.race(answers);
    const triggered = await fetch(installation.trigger.url, {
      method: "POST",
      headers: { authorization: `Bearer ${installation.trigger.token}`, "content-type": "application/json" },
      body: "{}",
    });
    expect(triggered.status, "another user's trigger").to.equal(200);
    expect(first.status, "the first answer").to.equal(429);
    const all = await Promise.all(answers);
    done = true;
    await probing;
    const refused = all.filter(({ status }) => status === 429);
    const others = all.filter(({ status }) => status !== 429 && status !== 200);
    expect(await Promise.all(others.map((answer) => answer.text()))).to.deep.equal([]);
    expect(refused.length).to.be.within(1, AT_ONCE - 4);
    expect(refused[0]!.headers.get("retry-after")).to.equal("1");
    expect(await refused[0]!.json()).to.include({ code: 429, reason: "too_many" });
    const served = all.find(({ status }) => status === 200)!;
    const { detail } = (await served.json()) as { detail: object };
    expect(detail).to.deep.include({ valid: true, jobsCount: JOBS, stepsCount: 5 * JOBS });
    expect(Math.max(...delays), "the worst probe of health, ms").to.be.below(WORST_PROBE_MS);
  });

  it("are saved, planned and triggered over HTTP, and validated over gRPC, in the same way as small ones", async () => {
    const saved = await call(`${path}/spec/save`, tokens.maintainer, LARGE);
    expect(saved.status).to.equal(200);
    const triggered = await call(`${path}/trigger`, tokens.operator, "{}");
    expect(triggered.status, await triggered.clone().text()).to.equal(200);
    const client = new PipelineClient(installation.addresses.gateway, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${tokens.viewer}`);
    const pipelineId = path.split("/").at(-1)!;
    const { spec } = JSON.parse(LARGE) as { spec: Record<string, unknown> };
    const outcomes = await Promise.all(
      Array.from(
        { length: 10 },
        () =>
          new Promise<string>((resolve) => {
            client.validateSpec({ pipelineId, spec, format: "SPEC_FORMAT_JSON" }, metadata, (error, response) => {
              resolve(
                error === null ? `${response.valid} ${response.stepsCount}` : String((error as ServiceError).code),
              );
            });
          }),
      ),
    );
    client.close();
    const RESOURCE_EXHAUSTED = "8";
    expect(new Set(outcomes)).to.deep.equal(new Set([`true ${5 * JOBS}`, RESOURCE_EXHAUSTED]));
  });

  it("leave a node that stops while they are in hand with status 0", async () => {
    const answers = Array.from({ length: 4 }, () =>
      call(`${path}/spec/validate`, tokens.viewer, LARGE).then(
        ({ status }) => status,
        () => 0,
      ),
    );
    await pause(200);
    await installation.stop();
    for (const status of await Promise.all(answers)) expect(status).to.be.oneOf([0, 200, 503]);
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
    expect(error.code).to.equal("ECONNREFUSED");
  });
});
