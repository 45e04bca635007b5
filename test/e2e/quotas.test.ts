/** Quotas in a real installation. Its Redis is emptied and its node is killed while jobs run. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { Redis } from "ioredis";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

const LIMIT = 2;
const JOBS = 6;

describe("a project with a quota", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let server: TestRedis;
  let redis: Redis;
  let installation: EmbeddedInstallation;

  before(async () => {
    world = await ProcessWorld.create();
    server = await startTestRedis();
    redis = new Redis(server.connection);
    installation = await EmbeddedInstallation.create(world);
  });
  after(async () => {
    redis?.disconnect();
    await world?.end();
    await server?.stop();
  });

  it("never exceeds the quota, even when Redis is emptied and the node is killed", async () => {
    const dataDir = join(world.folder, "data");
    const env = { REDIS_URL: server.url, MILLRACE_QUOTAS: `project:default=${LIMIT}` };
    await installation.serve(dataDir, env);
    await installation.agent("one");
    const [marks, go] = [join(world.folder, "marks"), join(world.folder, "go")];
    const script = `echo start >> ${marks}; while ! [ -e ${go} ]; do sleep 0.05; done; echo end >> ${marks}`;
    const jobs = Array.from({ length: JOBS }, (_, at) => ({
      name: `job${at}`,
      steps: [{ uses: "shell", args: { script } }],
    }));
    const { runId } = await installation.api.trigger(await installation.pipeline("bounded", jobs), {});
    const readRun = async () => (await installation.call("GET", `/pipelines/runs/${runId}`)).body.detail;
    const waiting = async (): Promise<readonly { reason: string; text: string }[]> =>
      (await readRun()).jobs.flatMap(({ waitingFor }: { waitingFor: object | null }) => waitingFor ?? []);
    const countStarted = async () =>
      (await readFile(marks, "utf8").catch(() => "")).split("\n").filter((line) => line === "start").length;
    const places = () => redis.zcard("{board}:quota:project:default");
    const untilBalanced = async (what: string) => {
      await until(what, async () => (await places()) === LIMIT && (await waiting()).every(isQuota), 30_000);
      await until("the first steps", async () => (await countStarted()) === LIMIT);
    };
    const isQuota = ({ reason }: { reason: string }) => reason === "quota";

    await until("both run", async () => (await readRun()).jobs.filter(isRunning).length === LIMIT);
    await untilBalanced("the others wait for the quota");
    const [first] = await waiting();
    expect(first!.text).to.equal("the quota of project default is reached: 2 of 2 jobs run");

    await redis.flushall();
    await untilBalanced("the emptied Redis knows the running jobs again");

    installation.node.kill("SIGKILL");
    await installation.node.exited;
    await installation.serve(dataDir, env);
    await untilBalanced("the next node counts the running jobs");

    const setTo = (values: object) => installation.call("PUT", "/projects/default/settings", { values });
    expect((await setTo({ "quota.perProject": 1 })).status).to.equal(200);
    const lower = "the quota of project default is reached: 2 of 1 jobs run";
    await until("the node knows the lower quota", async () => (await waiting()).every(({ text }) => text === lower));
    expect((await setTo({})).status).to.equal(200);

    await writeFile(go, "");
    const run = await until(
      "the run ends",
      async () => ((await readRun()).endTime === null ? undefined : readRun()),
      30_000,
    );
    expect(run.status).to.equal("success");
    let working = 0;
    for (const line of (await readFile(marks, "utf8")).trim().split("\n")) {
      working += line === "start" ? 1 : -1;
      expect(working).to.be.within(0, LIMIT);
    }
    await until("all places are vacant", async () => (await places()) === 0);
  });
});

function isRunning({ status }: { readonly status: string }): boolean {
  return status === "running";
}
