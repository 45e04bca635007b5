/** Secrets in a real installation: a step on an agent gets them, and they appear nowhere else. */
import { createHash } from "node:crypto";
import { access, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { Redis } from "ioredis";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld, type StartedProcess } from "../support/processes.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";

/** The start of every secret value in this file, so that one search finds all of them. */
const MARK = "hunter22";
const value = (name: string): string => `${MARK}-${name}-0123456789`;
const sumOf = (name: string): string => createHash("sha256").update(value(name)).digest("hex").slice(0, 8);
const script = (text: string, more: object = {}): object => ({ uses: "shell", args: { script: text }, ...more });

describe("a secret", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let redis: TestRedis;
  let installation: EmbeddedInstallation;
  let dataDir: string;
  let agent: StartedProcess;
  const stopped: StartedProcess[] = [];
  const answers: string[] = [];

  before(async () => {
    [world, redis] = await Promise.all([ProcessWorld.create(), startTestRedis()]);
    installation = await EmbeddedInstallation.create(world);
    dataDir = join(world.folder, "data");
    await serve();
    agent = await installation.agent("one");
  });
  after(async () => {
    await world?.end();
    await redis?.stop();
  });

  const serve = () => installation.serve(dataDir, { REDIS_URL: redis.url, LOG_LEVEL: "debug" });
  async function call(method: string, path: string, body?: unknown) {
    const answer = await installation.call(method, path, body);
    answers.push(JSON.stringify(answer.body));
    return answer.body;
  }
  const set = (path: string, name: string, text: string) => call("POST", `${path}/secrets`, { name, value: text });
  const project = "/projects/default";

  async function end(runId: string) {
    return until("the run ends", async () => {
      const { detail } = await call("GET", `/pipelines/runs/${runId}?attempts=all`);
      return detail.endTime === null ? undefined : detail;
    });
  }
  async function run(name: string, jobs: readonly object[]) {
    const pipelineId = await installation.pipeline(name, jobs);
    const { runId } = await installation.api.trigger(pipelineId, {});
    return { pipelineId, run: await end(runId) };
  }
  async function logOf(stepRunId: string): Promise<string> {
    const rows = await readStore("SELECT body FROM log_chunks WHERE step_run_id = ?", stepRunId);
    return rows.map(({ body }) => String(body)).join("\n");
  }
  async function readStore(sql: string, ...values: readonly string[]): Promise<readonly Record<string, unknown>[]> {
    const store = new SqliteConnection(join(dataDir, "millrace.db"));
    try {
      return store.prepare(sql).all(...values) as Record<string, unknown>[];
    } finally {
      store.close();
    }
  }

  it("reaches the step that names it, the pipeline's before the project's, and no log", async () => {
    const pipelineId = await installation.pipeline("deploy", [
      {
        name: "ship",
        env: { TOKEN: "${{ secrets.TOKEN }}" },
        steps: [
          script(
            `test "$(printf %s "$TOKEN" | sha256sum | cut -c1-8)" = ${sumOf("of-pipeline")}
             echo "plain $TOKEN"; echo "url $URL"
             printf 'x:%s' "$TOKEN" | base64
             printf %.12s "$TOKEN"; sleep 0.2; printf %s "$TOKEN" | tail -c +13
             echo "version=1.0" >> "$MILLRACE_OUTPUT"; echo "token=$TOKEN" >> "$MILLRACE_OUTPUT"`,
            {
              name: "use",
              id: "use",
              env: { URL: "https://u:${{ secrets.PASSWORD }}@host" },
            },
          ),
          script('echo "<${{ steps.use.outputs.token }}>" "${{ steps.use.outputs.version }}"', { name: "later" }),
        ],
      },
    ]);
    await set(project, "TOKEN", value("of-project"));
    await set(project, "PASSWORD", value("password"));
    await set(`/pipelines/${pipelineId}`, "TOKEN", value("of-pipeline"));
    const { runId } = await installation.api.trigger(pipelineId, {});
    const { status, jobs } = await end(runId);
    const [use, later] = jobs[0].steps;
    const log = await logOf(use.stepRunId);
    expect(status, log).to.equal("success");
    expect(log)
      .to.include("plain ***")
      .and.include("url https://u:***@host")
      .and.include("the output token holds a secret");
    expect(await logOf(later.stepRunId)).to.include("<> 1.0");
    await call("GET", `/pipelines/runs/${runId}/outputs`);
    await call("GET", `/pipelines/runs/${runId}/timeline`);
  });

  it("that is not set fails the step that names it, and its job continues as after any failure", async () => {
    const { run: ended } = await run("missing", [
      {
        name: "a",
        steps: [
          script("true", { name: "first" }),
          script("true", { name: "needs it", env: { K: "${{ secrets.NOT_SET }}" } }),
          script("true", { name: "clean", when: "always()" }),
        ],
      },
    ]);
    const outcomes = ended.jobs[0].steps.map(({ status, reason }: Record<string, string>) =>
      `${status} ${reason}`.trim(),
    );
    expect(ended.status).to.equal("failed");
    expect(outcomes).to.deep.equal([
      "success",
      "failed the secret NOT_SET is not set for this pipeline or its project",
      "success",
    ]);
  });

  it("has the value of the moment in which a step starts, also when it is replaced or deleted", async () => {
    await set(project, "TURNING", value("first"));
    const [started, go] = [join(world.folder, "started"), join(world.folder, "go")];
    const env = { K: "${{ secrets.TURNING }}" };
    const wait = `touch ${started}-$N; while ! test -e ${go}-$N; do sleep 0.05; done; printf %s "$K" | sha256sum | cut -c1-8`;
    const steps = ["1", "2", "3"].map((n) => script(wait, { name: n, env: { ...env, N: n } }));
    const pipelineId = await installation.pipeline("turning", [{ name: "a", steps }]);
    const { runId } = await installation.api.trigger(pipelineId, {});
    const untilStarted = (n: number) =>
      until(`step ${n} has started`, () =>
        access(`${started}-${n}`).then(
          () => true,
          () => false,
        ),
      );
    await untilStarted(1);
    expect((await call("PUT", `${project}/secrets/TURNING`, { value: value("second") })).detail.version).to.equal(2);
    await writeFile(`${go}-1`, "");
    await untilStarted(2);
    await call("DELETE", `${project}/secrets/TURNING`);
    await writeFile(`${go}-2`, "");
    const { jobs } = await end(runId);
    const [one, two, three] = jobs[0].steps;
    expect(await logOf(one.stepRunId)).to.include(sumOf("first"));
    expect(await logOf(two.stepRunId)).to.include(sumOf("second"));
    expect(three.reason).to.equal("the secret TURNING is not set for this pipeline or its project");
  });

  it("is readable after a change of the master key, by the running node and by a later one", async () => {
    const before = await readStore("SELECT DISTINCT key_id FROM secrets");
    const rotate = world.start(["secrets", "rotate-key", "--data-dir", dataDir]);
    expect((await rotate.exited).code, rotate.stderr).to.equal(0);
    expect(rotate.stdout).to.match(/^3 secrets were encrypted again, with the master key [0-9a-f]{16}\n$/);
    const after = await readStore("SELECT DISTINCT key_id FROM secrets");
    expect([before.length, after.length]).to.deep.equal([1, 1]);
    expect(after).not.to.deep.equal(before);
    const jobs = [
      { name: "a", steps: [script('test -n "$K"; echo "[$K]"', { env: { K: "${{ secrets.PASSWORD }}" } })] },
    ];
    const { pipelineId, run: ended } = await run("rotated", jobs);
    expect(ended.status).to.equal("success");
    await set(`/pipelines/${pipelineId}`, "LATER", value("later"));
    expect(await readStore("SELECT DISTINCT key_id FROM secrets")).to.deep.equal(after);

    stopped.push(installation.node.process);
    installation.node.kill("SIGKILL");
    await installation.node.exited;
    await serve();
    const { runId } = await installation.api.trigger(pipelineId, {});
    expect((await end(runId)).status).to.equal("success");
  });

  it("is refused to a run whose definition reads all secrets at once", async () => {
    const pipelineId = await installation.pipeline("whole", [
      { name: "a", steps: [script("true", { env: { ALL: "${{ toJSON(secrets) }}" } })] },
    ]);
    expect(await call("POST", `/pipelines/${pipelineId}/trigger`, {})).to.include({
      code: 400,
      reason: "invalid_definition",
    });
  });

  it("is found neither in the store, Redis, agents' files and logs, nor in answers and metrics", async () => {
    const search = [MARK, Buffer.from(MARK).toString("base64").slice(0, 10), "-0123456789"];
    const places = new Map<string, string>();
    for (const folder of [dataDir, join(world.folder, "agent-one")]) {
      for (const file of await readdir(folder, { recursive: true, withFileTypes: true })) {
        if (!file.isFile()) continue;
        const path = join(file.parentPath, file.name);
        places.set(path, await readFile(path, "latin1"));
      }
    }
    expect(
      [...places.keys()].map((path) => path.slice(world.folder.length)),
      "the searched files",
    ).to.include.members([
      "/data/millrace.db",
      "/data/millrace.db-wal",
      "/data/master-2.key",
      "/agent-one/journal.jsonl",
    ]);
    places.set("redis", await dumpOf(redis));
    for (const [at, process] of [installation.node.process, agent, ...stopped].entries()) {
      places.set(`log ${at}`, process.stdout + process.stderr);
    }
    places.set("metrics", await (await fetch(`http://${installation.node.metrics}/metrics`)).text());
    places.set("answers", answers.join("\n"));
    for (const word of ["a secret was created", "the secret TURNING is not set"]) {
      expect(
        [...places.values()].some((text) => text.includes(word)),
        word,
      ).to.equal(true);
    }
    for (const [place, text] of places) {
      for (const word of search) expect(text.includes(word), `${word} in ${place}`).to.equal(false);
    }
  });
});

/** All keys of Redis and their values. */
async function dumpOf({ connection }: TestRedis): Promise<string> {
  const client = new Redis({ ...connection });
  try {
    const keys = await client.keys("*");
    const dumps = await Promise.all(keys.map((key) => client.dumpBuffer(key)));
    return [...keys, ...dumps.map((dump) => dump?.toString("latin1") ?? "")].join("\n");
  } finally {
    client.disconnect();
  }
}
