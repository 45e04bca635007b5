/** Conditions, retries, outputs and matrices in a real installation. Some tests kill the node during the run. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { existsSync } from "node:fs";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";

const say = (script: string, more: object = {}): object => ({ uses: "shell", args: { script }, ...more });

const WRITES = `{
echo "versions<<END"
echo "[1,"
echo " 2]"
echo "END"
echo 'name=$(id) ok'
} >> "$MILLRACE_OUTPUT"`;

describe("a run with conditions", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  let dataDir: string;

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    dataDir = join(world.folder, "data");
    await installation.serve(dataDir);
    await installation.agent("one");
  });
  after(() => world?.end());

  /** Status and reason of every attempt of every job and step, one line each. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
  const outcomesOf = (run: any): readonly string[] =>
    // oxlint-disable-next-line typescript/no-explicit-any -- as above
    run.jobs.flatMap((job: any) => [
      `${job.name} ${job.status} ${job.reason}`.trim(),
      // oxlint-disable-next-line typescript/no-explicit-any -- as above
      ...job.steps.map((step: any) => `  ${step.name} ${step.status} ${step.reason}`.trimEnd()),
    ]);

  const readRun = async (runId: string) =>
    (await installation.call("GET", `/pipelines/runs/${runId}?attempts=all`)).body.detail;

  it("skips steps and jobs by their conditions, and cleans up after a failure", async () => {
    const pipelineId = await installation.pipeline("conditions", [
      {
        name: "build",
        steps: [
          say("true", { name: "never", when: "trigger.ref == 'other'" }),
          say("exit 3", { name: "compile", id: "compile" }),
          say("true", { name: "publish" }),
          say("true", { name: "tell", when: "success() && trigger.ref != 'other'" }),
          say("true", { name: "undo", when: "cancelled()" }),
          say("true", { name: "clean", when: "always() && steps.compile.result == 'failed'" }),
        ],
      },
      { name: "report", needs: "build", when: "failure()", steps: [say("true", { name: "mail" })] },
      { name: "deploy", needs: "build", steps: [say("true", { name: "ship" })] },
    ]);
    const { runId } = await installation.api.trigger(pipelineId, {});
    const run = await until("the run ends", async () => {
      const found = await readRun(runId);
      return found.endTime === null ? undefined : found;
    });
    expect(run.status).to.equal("failed");
    expect(outcomesOf(run)).to.deep.equal([
      "build failed step_failed",
      "  never skipped condition",
      "  compile failed exit code 3",
      "  publish skipped step_failed",
      "  tell skipped step_failed",
      "  undo skipped condition",
      "  clean success",
      "report success",
      "  mail success",
      "deploy cancelled upstream_failed",
      "  ship skipped upstream_failed",
    ]);
  });

  it("makes the next attempt of a step although the node dies while the step waits", async () => {
    const marks = join(world.folder, "marks");
    const pipelineId = await installation.pipeline("retries", [
      {
        name: "flaky",
        steps: [
          say(`echo "$MILLRACE_STEP_RUN_ID" >> ${marks}; test "$(wc -l < ${marks})" -ge 3`, {
            name: "try",
            retry: { attempts: 3, delay: "4s", on: ["failed"] },
          }),
        ],
      },
    ]);
    const { runId } = await installation.api.trigger(pipelineId, {});
    await until("the first attempt has failed", async () => (await readRun(runId)).jobs[0].steps.length === 2);
    installation.node.kill("SIGKILL");
    await installation.node.exited;
    await installation.serve(dataDir);
    const run = await until(
      "the run ends",
      async () => {
        const found = await readRun(runId);
        return found.endTime === null ? undefined : found;
      },
      40_000,
    );
    expect(outcomesOf(run)).to.deep.equal([
      "flaky success",
      "  try failed exit code 1",
      "  try failed exit code 1",
      "  try success",
    ]);
    const ids: readonly string[] = run.jobs[0].steps.map(({ stepRunId }: { stepRunId: string }) => stepRunId);
    expect((await readFile(marks, "utf8")).trim().split("\n"), "each attempt has run once").to.deep.equal(ids);
  });

  it("cleans up after a stop in the same workspace, even when the node dies meanwhile", async () => {
    const done = join(world.folder, "cleaned");
    const locked = join(world.folder, "locked");
    const pipelineId = await installation.pipeline("stopped", [
      {
        name: "deploy",
        cancelGrace: "1s",
        steps: [
          say(`touch lock ${locked}; sleep 600`, { name: "work" }),
          say("exit 0", { name: "never" }),
          say(`test -e lock && rm lock && sleep 2 && touch ${done}`, { name: "unlock", when: "always()" }),
        ],
      },
    ]);
    const { runId } = await installation.api.trigger(pipelineId, {});
    await until("the step has made its lock", () => existsSync(locked));
    await installation.api.stop(pipelineId, runId, "enough");
    await until("it cleans up", async () => (await readRun(runId)).jobs[0].steps[2].status === "running");
    installation.node.kill("SIGKILL");
    await installation.node.exited;
    await installation.serve(dataDir);
    const run = await until("the run ends", async () => {
      const found = await readRun(runId);
      return found.endTime === null ? undefined : found;
    });
    expect(run).to.include({ status: "cancelled", reason: "enough" });
    expect(outcomesOf(run)).to.deep.equal([
      "deploy cancelled cancelled",
      "  work cancelled cancelled",
      "  never skipped cancelled",
      "  unlock success",
    ]);
    expect(await readFile(done, "utf8"), "the clean-up has run to its end").to.equal("");
  });

  it("names the cause of each transition in its timeline", async () => {
    const pipelineId = await installation.pipeline("told", [
      { name: "one", steps: [say("exit 1", { name: "try", retry: { attempts: 2 } })] },
    ]);
    const { runId } = await installation.api.trigger(pipelineId, {});
    await until("the run ends", async () => (await readRun(runId)).endTime !== null);
    const page = async (query: string) =>
      (await installation.call("GET", `/pipelines/runs/${runId}/timeline${query}`)).body;
    const { list, next } = (await page("")).detail;
    const agentId = list.find(({ cause }: { cause: string }) => cause === "claimRequested").by;
    // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
    const lines = list.map((entry: any) => `${entry.name || "run"} ${entry.lifecycle}: ${entry.cause} ${entry.by}`);
    expect(lines.map((line: string) => line.replace(agentId, "agent"))).to.deep.equal([
      "run created: trigger admin",
      "run started: trigger admin",
      "one queued: trigger admin",
      "one started: claimRequested agent",
      "one/try queued: claimRequested agent",
      "one/try started: reported agent",
      "one/try failed: reported agent",
      "one/try retried: reported agent",
      "one/try queued: reported agent",
      "one/try started: reported agent",
      "one/try failed: reported agent",
      "one failed: reported agent",
      "run failed: reported agent",
    ]);
    expect(next).to.equal(null);
    const { detail } = await page("?after=3&limit=2");
    expect(detail.list.map(({ number }: { number: number }) => number)).to.deep.equal([4, 5]);
    expect(detail.next).to.equal(5);
    expect((await page("?limit=0")).code).to.equal(400);
    expect((await installation.call("GET", "/pipelines/runs/run_unknown/timeline")).status).to.equal(404);
  });

  it("counts the tests that the agent has read from the reports of a step", async () => {
    const cases = '<testcase name="a" time="0.01"/><testcase name="b"><failure message="no"/></testcase>';
    const script = `mkdir reports; echo '<testsuite name="s">${cases}</testsuite>' > reports/a.xml`;
    const steps = [{ uses: "shell", args: { script }, reports: { junit: ["reports/*.xml"] } }];
    const pipelineId = await installation.pipeline("tested", [{ name: "build", steps }]);
    const { runId } = await installation.api.trigger(pipelineId, {});
    const read = async (rest = "") => (await installation.call("GET", `/pipelines/runs/${runId}${rest}`)).body.detail;
    const { tests, jobs, status } = await until("the run ends", async () => {
      const run = await read();
      return run.endTime === null ? undefined : run;
    });
    expect([status, tests]).to.deep.equal(["success", { total: 2, failed: 1, skipped: 0, flaky: 0, durationMs: 10 }]);
    expect(jobs[0].tests).to.deep.equal(tests);
    const { list } = await read("/test-cases?filter=failed");
    expect(list.map(({ name, message }: Record<string, string>) => [name, message])).to.deep.equal([["b", "no"]]);
  });

  it("has the events that a step has written in its log, also when the step fails", async () => {
    const write = `echo '{ "type": "coverage", "data": { "percent": 93 } }' >> "$MILLRACE_EVENTS"; exit 1`;
    const pipelineId = await installation.pipeline("covered", [{ name: "one", steps: [say(write)] }]);
    const { runId } = await installation.api.trigger(pipelineId, {});
    await until("the run ends", async () => (await readRun(runId)).endTime !== null);
    const { list } = (await installation.call("GET", `/pipelines/runs/${runId}/timeline`)).body.detail;
    const [event] = list.filter(({ lifecycle }: { lifecycle: string }) => lifecycle === "pushed");
    expect(event).to.deep.include({ type: "svc.step.coverage", payload: { percent: 93 } });
  });

  it("fails a step whose outputs exceed the bound of the run", async () => {
    const write = say('printf "text=%065000d\\n" 0 >> "$MILLRACE_OUTPUT"');
    const steps = Array.from({ length: 17 }, (_, at) => ({ ...write, name: `write ${at}` }));
    const pipelineId = await installation.pipeline("overfull", [{ name: "job", steps }]);
    const { runId } = await installation.api.trigger(pipelineId, {});
    await until("the run ends", async () => (await readRun(runId)).endTime !== null);
    const lines = outcomesOf(await readRun(runId));
    expect(lines.slice(-2)).to.deep.equal([
      "  write 15 success",
      "  write 16 failed the outputs of this run would have more than 1048576 bytes in all with those of this step",
    ]);
  });

  it("passes outputs of a step to later steps and jobs", async () => {
    const pipelineId = await installation.pipeline("outputs", [
      {
        name: "find",
        outputs: { versions: "${{ steps.list.outputs.versions }}" },
        steps: [
          say(WRITES, { name: "list", id: "list" }),
          say(`test "$NAME" = '$(id) ok'`, { name: "use", env: { NAME: "${{ steps.list.outputs.name }}" } }),
        ],
      },
      {
        name: "build",
        needs: "find",
        when: "fromJSON(jobs.find.outputs.versions)[1] == 2",
        steps: [
          say("exit 1", { name: "skip", when: "jobs.find.outputs.versions == ''" }),
          say("true", { name: "broken", env: { X: "${{ fromJSON(jobs.find.result).x }}" } }),
        ],
      },
      {
        name: "each",
        needs: "find",
        matrix: { axes: { v: "${{ fromJSON(jobs.find.outputs.versions) }}" } },
        outputs: { it: "v${{ matrix.v }}" },
        steps: [
          say(`test "$V $MILLRACE_JOB_NAME $MILLRACE_STEP_NAME" = "\${{ matrix.v }} each (v=$V) is $V"`, {
            name: "is ${{ matrix.v }}",
            env: { V: "${{ matrix.v }}" },
          }),
        ],
      },
    ]);
    const { runId } = await installation.api.trigger(pipelineId, {});
    const run = await until("the run ends", async () => {
      const found = await readRun(runId);
      return found.endTime === null ? undefined : found;
    });
    expect(outcomesOf(run)).to.deep.equal([
      "find success",
      "  list success",
      "  use success",
      "build failed step_failed",
      "  skip skipped condition",
      "  broken failed the env variable X cannot be evaluated: the argument of `fromJSON` is not JSON",
      "each (v=1) success",
      "  is 1 success",
      "each (v=2) success",
      "  is 2 success",
    ]);
    const { detail } = (await installation.call("GET", `/pipelines/runs/${runId}/outputs`)).body;
    expect(detail.jobs.map(({ name, outputs }: { name: string; outputs: object }) => [name, outputs])).to.deep.equal([
      ["find", { versions: "[1,\n 2]" }],
      ["each (v=1)", { it: "v1" }],
      ["each (v=2)", { it: "v2" }],
    ]);
    expect((await installation.call("GET", "/pipelines/runs/run_unknown/outputs")).status).to.equal(404);
  });

  it("cancels the other cells of a matrix when one fails, and keeps to maxParallel", async () => {
    const pipelineId = await installation.pipeline("matrix", [
      {
        name: "cell",
        matrix: { axes: { n: [1, 2, 3] }, maxParallel: 2 },
        steps: [say('test "$N" != 1 || exit 1; sleep 60', { name: "work", env: { N: "${{ matrix.n }}" } })],
      },
    ]);
    const { runId } = await installation.api.trigger(pipelineId, {});
    const run = await until("the run ends", async () => {
      const found = await readRun(runId);
      return found.endTime === null ? undefined : found;
    });
    expect(run.status).to.equal("failed");
    expect(outcomesOf(run).filter((line) => line.startsWith("cell"))).to.deep.equal([
      "cell (n=1) failed step_failed",
      "cell (n=2) cancelled fail_fast",
      "cell (n=3) cancelled fail_fast",
    ]);
    expect(run.jobs[2].startTime, "the third cell never started").to.equal(null);
  });
});
