/**
 * Caches in a real installation: one run stores a cache, the next run restores it on another agent, and nodes and
 * agents die.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";

const MB = 1_000_000;
const say = (script: string, more: object = {}): object => ({ uses: "shell", args: { script }, ...more });
const on = (name: string): object => ({ agentSelector: { matchLabels: { name } } });
const cache = (args: object): object => ({
  id: "deps",
  name: "deps",
  uses: "cache",
  args: { paths: ["deps"], ...args },
});
/** A step that is skipped when the cache has an entry with exactly the key. */
const install = (script: string): object => say(script, { name: "install", when: "steps.deps.outputs.hit != 'true'" });

interface Step {
  readonly name: string;
  readonly status: string;
  readonly stepRunId: string;
}

describe("a cache", function () {
  this.timeout(180_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  let dataDir: string;

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    dataDir = join(world.folder, "data");
    await installation.serve(dataDir);
    await Promise.all([installation.agent("one"), installation.agent("two")]);
  });
  after(() => world?.end());

  const restart = async (env: Record<string, string> = {}): Promise<void> => {
    installation.node.kill("SIGKILL");
    await installation.node.exited;
    await installation.serve(dataDir, env);
  };
  const ended = (runId: string, deadlineMs = 60_000) =>
    until(
      `the end of ${runId}`,
      async () => {
        const { detail } = (await installation.call("GET", `/pipelines/runs/${runId}`)).body;
        return detail.endTime === null ? undefined : detail;
      },
      deadlineMs,
    );
  const triggerRun = async (name: string, jobs: readonly object[]): Promise<string> => {
    const pipelineId = await installation.pipeline(name, jobs);
    return (await installation.api.trigger(pipelineId, {})).runId;
  };
  /** Runs the jobs to their end. Answers the steps of the first job by name, and the run. */
  const run = async (name: string, jobs: readonly object[]) => {
    const detail = await ended(await triggerRun(name, jobs));
    const steps: Record<string, Step> = {};
    for (const step of detail.jobs[0].steps as readonly Step[]) steps[step.name] = step;
    return { status: detail.status, steps, detail };
  };
  const logOf = ({ stepRunId }: Step): string => {
    const store = new SqliteConnection(join(dataDir, "millrace.db"));
    try {
      const rows = store.prepare("SELECT body FROM log_chunks WHERE step_run_id = ?").all(stepRunId);
      return (rows as { body: unknown }[]).map(({ body }) => String(body)).join("\n");
    } finally {
      store.close();
    }
  };
  const listed = async (prefix: string): Promise<readonly { key: string; size: number; cacheId: string }[]> =>
    (await installation.call("GET", `/projects/default/caches?prefix=${prefix}`)).body.detail.list;
  const keptUnder = (prefix: string, deadlineMs = 30_000) =>
    until(`an entry of ${prefix}`, async () => (await listed(prefix))[0], deadlineMs);
  const untilLogged = (step: Step, words: string) =>
    until(`${words} in the log of ${step.name}`, () => logOf(step).includes(words) || undefined);

  it("is stored by the first run and spares the second run its installation, on another agent", async () => {
    const job = (name: string) => ({
      name: "build",
      ...on(name),
      steps: [
        say("echo '{ \"left-pad\": 1 }' > lock.json"),
        cache({ key: "npm", keyFiles: ["lock.json"] }),
        install(
          `mkdir -p deps/.bin deps/a && printf '#!/bin/sh\\necho ran' > deps/a/tool &&
           chmod +x deps/a/tool && ln -s ../a/tool deps/.bin/tool`,
        ),
        say('test "$(deps/.bin/tool)" = ran && test -L deps/.bin/tool', { name: "use" }),
      ],
    });
    const first = await run("npm", [job("one")]);
    expect(first.status, JSON.stringify(first.detail.jobs)).to.equal("success");
    expect(first.steps["install"]!.status).to.equal("success");
    const { key } = await keptUnder("npm-");
    expect(key).to.match(/^npm-[0-9a-f]{64}$/);
    expect(logOf(first.steps["deps"]!)).to.include(`no cache is kept under \\"${key}\\"`);
    await untilLogged(first.steps["deps"]!, "is kept: 2 files of");

    const second = await run("npm again", [job("two")]);
    expect(second.status, JSON.stringify(second.detail.jobs)).to.equal("success");
    expect(second.steps["install"]!.status).to.equal("skipped");
    expect(logOf(second.steps["deps"]!)).to.match(
      /is here: 2 files of \d+ bytes packed, made [\d.]+m?s ago, in [\d.]+m?s/,
    );
    expect(await listed("npm-")).to.have.length(1);
  });

  it("is restored from a key that begins with one of restoreKeys, and stored under the new key", async () => {
    const job = (key: string) => ({
      name: "build",
      steps: [cache({ key, restoreKeys: ["go-"] }), install("mkdir -p deps && echo x >> deps/seen && cat deps/seen")],
    });
    expect((await run("go", [job("go-1")])).status).to.equal("success");
    await keptUnder("go-1");
    const second = await run("go again", [job("go-2")]);
    await keptUnder("go-2");
    expect(logOf(second.steps["deps"]!)).to.include("in place of");
    expect(logOf(second.steps["install"]!).match(/\bx\b/g), "the restored line and the new one").to.have.length(2);
  });

  it("is not stored when the job fails or a link leads out of the workspace", async () => {
    const failed = await run("red", [{ name: "build", steps: [cache({ key: "red" }), say("echo > deps; exit 1")] }]);
    expect(failed.status).to.equal("failed");
    const leaking = await run("leak", [
      { name: "build", steps: [cache({ key: "leak" }), say("mkdir deps && ln -s /etc/hostname deps/x")] },
    ]);
    expect(leaking.status, "the job does not fail because of it").to.equal("success");
    await untilLogged(leaking.steps["deps"]!, "leads out of the workspace");
    const away = await run("away", [
      { name: "build", steps: [cache({ key: "away", paths: ["${{ trigger.ref }}/../.."] })] },
    ]);
    expect(away.status).to.equal("failed");
    expect([...(await listed("red")), ...(await listed("leak")), ...(await listed("away"))]).to.deep.equal([]);
  });

  it("is complete after the node dies while it is stored and while it is restored", async () => {
    const job = (more: readonly object[]) => ({
      name: "build",
      ...on("one"),
      steps: [cache({ key: "large" }), ...more],
    });
    const fill = `mkdir deps && head -c ${20 * MB} /dev/urandom > deps/noise && sha256sum deps/noise > deps/sum`;
    const first = await run("large", [job([install(fill)])]);
    expect(first.status).to.equal("success");
    const parts = async (): Promise<readonly number[]> => {
      const found = await readdir(join(dataDir, "blobs"), { recursive: true, withFileTypes: true }).catch(() => []);
      const files = found.filter((entry) => entry.isFile() && entry.name.endsWith(".part"));
      return Promise.all(
        files.map(({ parentPath, name }) =>
          stat(join(parentPath, name)).then(
            ({ size }) => size,
            () => 0,
          ),
        ),
      );
    };
    await until("a part of the entry", async () => (await parts()).some((size) => size > 2 * MB), 60_000);
    await restart();
    const [atDeath] = await parts();
    expect(atDeath, "the node was killed during the upload").to.be.lessThan(20 * MB);
    const { size } = await keptUnder("large", 60_000);
    expect(size).to.be.greaterThan(20 * MB);

    const runId = await triggerRun("large again", [
      job([install("exit 9"), say("sha256sum -c deps/sum", { name: "check" })]),
    ]);
    const scratch = join(world.folder, "agent-one", "scratch");
    await until("a part of the download", async () => {
      const name = (await readdir(scratch)).find((entry) => entry.startsWith("cache-"));
      if (name === undefined) return undefined;
      return (await stat(join(scratch, name)).catch(() => ({ size: 0 }))).size > 2 * MB || undefined;
    });
    await restart();
    const detail = await ended(runId, 120_000);
    expect(detail.status, JSON.stringify(detail.jobs)).to.equal("success");
    expect(detail.jobs[0].attempt).to.equal(1);
    expect(detail.jobs[0].steps.map(({ status }: Step) => status)).to.deep.equal(["success", "skipped", "success"]);
  });

  it("leaves nothing behind when the agent dies while it is stored, and the next run stores it", async () => {
    const agent = await installation.agent("mortal");
    const job = {
      name: "build",
      ...on("mortal"),
      steps: [cache({ key: "mortal" }), install(`head -c ${60 * MB} /dev/urandom > deps`)],
    };
    expect((await run("mortal", [job])).status).to.equal("success");
    const scratch = join(world.folder, "agent-mortal", "scratch");
    await until("the archive", async () => (await readdir(scratch)).some((name) => name.startsWith("cache-")));
    agent.kill("SIGKILL");
    await agent.exited;
    expect(await listed("mortal")).to.deep.equal([]);
    await installation.agent("mortal");
    expect(
      (await run("mortal again", [{ ...job, steps: [cache({ key: "mortal-2" }), install("echo > deps")] }])).status,
    ).to.equal("success");
    await keptUnder("mortal-2");
    const left = async () => (await readdir(scratch)).filter((name) => name.startsWith("cache-"));
    await until("both archives are gone", async () => (await left()).length === 0);
  });

  it("is deleted when the project is full and it is the least recently used, or when it is unused", async () => {
    await restart({ MILLRACE_CACHE_LIMIT: "3MB" });
    const job = (key: string, more: readonly object[] = []) => ({
      name: "build",
      steps: [cache({ key }), install(`head -c ${MB} /dev/urandom > deps`), ...more],
    });
    await until("room", async () => (await listed("large")).length === 0, 30_000);
    for (const key of ["lru-1", "lru-2"]) {
      await run(key, [job(key)]);
      await keptUnder(key);
    }
    expect((await run("use", [job("lru-1")])).steps["install"]!.status).to.equal("skipped");
    await run("lru-3", [job("lru-3")]);
    await until(
      "room for the third",
      async () => {
        const keys = (await listed("lru-")).map(({ key }) => key);
        return (keys.includes("lru-3") && !keys.includes("lru-2")) || undefined;
      },
      30_000,
    );
    expect((await listed("lru-")).map(({ key }) => key)).to.have.members(["lru-1", "lru-3"]);
    await restart({ MILLRACE_CACHE_RETENTION: "1s" });
    await run("short", [job("short")]);
    await until("the unused cache is deleted", async () => (await listed("short")).length === 0, 30_000);
    expect((await listed("lru-")).length, "earlier entries keep their own retention").to.equal(2);
  });

  it("is deleted by a user who may, and the next run stores it again", async () => {
    const job = { name: "build", steps: [cache({ key: "poisoned" }), install("echo fine > deps")] };
    await run("poisoned", [job]);
    const { cacheId } = await keptUnder("poisoned");
    expect((await installation.call("DELETE", `/projects/default/caches/${cacheId}`)).status).to.equal(200);
    expect((await run("poisoned again", [job])).steps["install"]!.status).to.equal("success");
    await keptUnder("poisoned");
  });
});
