/** Reruns in a real installation: repeated jobs run, and reused jobs keep their results and logs. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";
import { TestViewer } from "../support/viewer.ts";

/** A step that writes a line with its name and the attempt of its job, then runs the script. */
const mark = (name: string, script = "", more: object = {}): object => ({
  name,
  uses: "shell",
  args: { script: `echo "${name} $MILLRACE_JOB_ATTEMPT" >> "$MARKS"; ${script}` },
  ...more,
});

describe("a rerun", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  let marks: string;

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    await installation.serve(join(world.folder, "data"));
    await installation.agent("one");
  });
  after(() => world?.end());

  async function triggerRun(name: string, jobs: readonly object[]): Promise<{ pipelineId: string; runId: string }> {
    marks = join(world.folder, name);
    const pipelineId = await installation.pipeline(
      name,
      jobs.map((job) => ({ env: { MARKS: marks }, ...job })),
    );
    const { runId } = await installation.api.trigger(pipelineId, {});
    return { pipelineId, runId };
  }

  const marked = async () => (await readFile(marks, "utf8")).trim().split("\n");

  const end = (runId: string) =>
    until("the run ends", async () => {
      const { detail } = (await installation.call("GET", `/pipelines/runs/${runId}`)).body;
      return detail.endTime === null ? undefined : detail;
    });

  async function rerun(pipelineId: string, runId: string, body: object): Promise<string> {
    const answer = await installation.call("POST", `/pipelines/${pipelineId}/runs/${runId}/rerun`, body);
    expect(answer.body.errMsg ?? "").to.equal("");
    return answer.body.detail.runId;
  }

  it("repeats failed jobs with the outputs of reused jobs, whose logs can still be read", async () => {
    const { pipelineId, runId } = await triggerRun("failed", [
      {
        name: "build",
        outputs: { word: "${{ steps.compile.outputs.word }}" },
        steps: [mark("compile", 'echo built; echo "word=go" >> "$MILLRACE_OUTPUT"', { id: "compile" })],
      },
      {
        name: "check",
        needs: "build",
        when: "jobs.build.outputs.word == 'go'",
        steps: [
          mark("test", 'test "$WORD $MILLRACE_RUN_ATTEMPT" = "go 2"', {
            env: { WORD: "${{ jobs.build.outputs.word }}" },
          }),
        ],
      },
    ]);
    expect((await end(runId)).status).to.equal("failed");
    const again = await end(await rerun(pipelineId, runId, { scope: "failed" }));
    expect(again).to.include({ status: "success", attempt: 2, retryOf: runId });
    expect(await marked()).to.deep.equal(["compile 1", "test 1", "test 2"]);
    const outputs = (await installation.call("GET", `/pipelines/runs/${again.runId}/outputs`)).body.detail.jobs;
    expect(outputs[0]).to.deep.include({ name: "build", outputs: { word: "go" } });
    const first = (await installation.call("GET", `/pipelines/runs/${runId}`)).body.detail;
    expect(first).to.include({ status: "failed", retriedBy: again.runId });
    const [build] = again.jobs;
    expect(build.steps[0].reusedFrom).to.equal(first.jobs[0].steps[0].stepRunId);

    const port = Number(installation.node.http!.split(":").at(-1));
    const viewer = await TestViewer.open({ port, adminToken: installation.adminToken });
    const { stepRunId } = build.steps[0];
    viewer.send({ channel: "channel_log", params: { pipelineId, jobId: build.jobId, stepRunId } });
    await viewer.next("history_done");
    expect(viewer.entries.map(({ content }) => content)).to.deep.equal(["built"]);
    await viewer.close();
  });

  it("starts with one step in a new workspace and runs what depends on it", async () => {
    const { pipelineId, runId } = await triggerRun("step", [
      {
        name: "build",
        steps: [
          mark("compile", 'touch made; echo "word=go" >> "$MILLRACE_OUTPUT"', { id: "compile" }),
          mark("pack", 'test "$MILLRACE_JOB_ATTEMPT" = 1 || test ! -e made', {
            env: { WORD: "${{ steps.compile.outputs.word }}" },
          }),
          mark("sign", 'test "$WORD" = go', { env: { WORD: "${{ steps.compile.outputs.word }}" } }),
        ],
      },
      { name: "lint", steps: [mark("lint", "exit 1")] },
      { name: "ship", needs: "build", steps: [mark("ship")] },
    ]);
    const first = await end(runId);
    const { stepRunId } = first.jobs[0].steps[1];
    const again = await end(await rerun(pipelineId, runId, { scope: "step", stepRunId }));
    const outcomes = again.jobs.flatMap((job: { name: string; attempt: number; steps: object[] }) => [
      [job.name, job.attempt],
      ...job.steps.map((step) => {
        const { name, status, attempt, reusedFrom } = step as Record<string, unknown>;
        return [name, status, attempt, reusedFrom !== null];
      }),
    ]);
    expect(outcomes).to.deep.equal([
      ["build", 2],
      ["compile", "success", 1, true],
      ["pack", "success", 2, false],
      ["sign", "success", 2, false],
      ["lint", 1],
      ["lint", "failed", 1, true],
      ["ship", 2],
      ["ship", "success", 2, false],
    ]);
    expect(again.status, "a job that it did not repeat had failed").to.equal("failed");
    const ran = await marked();
    expect(ran.filter((line) => line.endsWith("2"))).to.deep.equal(["pack 2", "sign 2", "ship 2"]);
    expect(ran.filter((line) => /^(compile|lint) /.test(line))).to.have.members(["compile 1", "lint 1"]);
  });
});
