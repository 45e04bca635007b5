/** Conditions, retries and matrices in a real installation, whose node is killed while a step waits for its next attempt. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";

const say = (script: string, more: object = {}): object => ({ uses: "shell", args: { script }, ...more });

describe("a run with conditions and retries", function () {
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

  /** Statuses and reasons of all jobs and steps, every attempt of each. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into whatever is answered
  const told = (run: any): readonly string[] =>
    // oxlint-disable-next-line typescript/no-explicit-any -- as above
    run.jobs.flatMap((job: any) => [
      `${job.name} ${job.status} ${job.reason}`.trim(),
      // oxlint-disable-next-line typescript/no-explicit-any -- as above
      ...job.steps.map((step: any) => `  ${step.name} ${step.status} ${step.reason}`.trimEnd()),
    ]);

  const readRun = async (runId: string) =>
    (await installation.call("GET", `/pipelines/runs/${runId}?attempts=all`)).body.detail;

  it("passes over what its conditions leave out, and cleans up after a failure", async () => {
    const pipelineId = await installation.pipeline("conditions", [
      {
        name: "build",
        steps: [
          say("true", { name: "never", when: "trigger.ref == 'other'" }),
          say("exit 3", { name: "compile", id: "compile" }),
          say("true", { name: "publish" }),
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
    expect(told(run)).to.deep.equal([
      "build failed step_failed",
      "  never skipped condition",
      "  compile failed exit code 3",
      "  publish skipped step_failed",
      "  clean success",
      "report success",
      "  mail success",
      "deploy cancelled upstream_failed",
      "  ship skipped upstream_failed",
    ]);
  });

  it("goes on with the next attempt of a step although the node dies while it waits", async () => {
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
    expect(told(run)).to.deep.equal([
      "flaky success",
      "  try failed exit code 1",
      "  try failed exit code 1",
      "  try success",
    ]);
    const ids: readonly string[] = run.jobs[0].steps.map(({ stepRunId }: { stepRunId: string }) => stepRunId);
    expect((await readFile(marks, "utf8")).trim().split("\n"), "each attempt has run once").to.deep.equal(ids);
  });

  it("ends the other cells of a matrix when one fails, and runs no more at once than it may", async () => {
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
    expect(told(run).filter((line) => line.startsWith("cell"))).to.deep.equal([
      "cell (n=1) failed step_failed",
      "cell (n=2) cancelled fail_fast",
      "cell (n=3) cancelled fail_fast",
    ]);
    expect(run.jobs[2].startTime, "the third never began").to.equal(null);
  });
});
