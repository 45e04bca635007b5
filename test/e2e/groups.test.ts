/** Concurrency groups of runs and of jobs in a real installation, also across the death of the node. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";

/** A step that runs until the file exists. The test creates the file. */
const waitForFile = (file: string): object => ({
  uses: "shell",
  args: { script: `while ! test -e ${file}; do sleep 0.05; done` },
});

describe("a concurrency group", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  let dataDir: string;
  let files = 0;

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    dataDir = join(world.folder, "data");
    await installation.serve(dataDir);
    await installation.agent("one");
  });
  after(() => world?.end());

  /** The path of a file that does not exist yet. */
  const newFile = (): string => join(world.folder, `go-${++files}`);

  const pipeline = async (name: string, concurrency: object, jobs: readonly object[]): Promise<string> => {
    const { pipelineId } = await installation.api.createPipeline(name, "");
    await installation.api.saveSpec(pipelineId, { concurrency, jobs });
    return pipelineId;
  };
  const trigger = async (pipelineId: string): Promise<string> => (await installation.api.trigger(pipelineId, {})).runId;
  const read = async (runId: string) => (await installation.call("GET", `/pipelines/runs/${runId}`)).body.detail;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
  const runWith = (what: string, runId: string, test: (run: any) => boolean) =>
    until(what, async () => {
      const run = await read(runId);
      return test(run) ? run : undefined;
    });

  it("lets one run work at a time and names the holder of its place to the others", async () => {
    const file = newFile();
    const id = await pipeline("queue", { group: "deploy ${{ variables.ref || 'main' }}" }, [
      { name: "work", steps: [waitForFile(file)] },
    ]);
    const first = await trigger(id);
    await runWith("the first run works", first, ({ status }) => status === "running");
    const second = await trigger(id);
    const third = await trigger(id);
    const waiting = await runWith("the third waits", third, ({ waitingFor }) => waitingFor?.ahead === 1);
    expect(waiting).to.include({ status: "pending" });
    expect(waiting.waitingFor).to.deep.equal({
      reason: "concurrency",
      text: `waits for a place in the group "deploy main": run ${first} has it, and 1 waits before`,
      group: "deploy main",
      holder: first,
      ahead: 1,
    });
    const timeline = (await installation.call("GET", `/pipelines/runs/${third}/timeline`)).body.detail.list;
    expect(timeline.at(-1)).to.include({ lifecycle: "waiting", waitingFor: "concurrency", text: "deploy main" });

    // The group is in the store, not in the node's memory.
    installation.node.kill("SIGKILL");
    await installation.node.exited;
    await installation.serve(dataDir);
    await installation.call("POST", `/pipelines/${id}/runs/${second}/stop`, {});
    await runWith("the second is stopped while it waits", second, ({ status }) => status === "cancelled");
    await writeFile(file, "");
    await runWith("the first ends", first, ({ status }) => status === "success");
    await runWith("the third takes its place and ends", third, ({ status }) => status === "success");
  });

  it("cancels an older run for the newest one and names the newest in the reason", async () => {
    const file = newFile();
    const id = await pipeline("newest", { group: "preview", onConflict: "cancelRunning" }, [
      { name: "work", cancelGrace: "1s", steps: [waitForFile(file)] },
    ]);
    const first = await trigger(id);
    await runWith("the first run works", first, ({ jobs }) => jobs[0].status === "running");
    const second = await trigger(id);
    const ended = await runWith("the first is ended", first, ({ endTime }) => endTime !== null);
    expect(ended).to.include({ status: "cancelled", reason: `superseded by ${second}` });
    await writeFile(file, "");
    await runWith("the second has its place", second, ({ status }) => status === "success");
  });

  it("refuses a trigger that does not wait and names the holder of its place", async () => {
    const file = newFile();
    const id = await pipeline("refusal", { group: "migrate", onConflict: "reject" }, [
      { name: "work", steps: [waitForFile(file)] },
    ]);
    const first = await trigger(id);
    const refused = await installation.call("POST", `/pipelines/${id}/trigger`, { requestId: "once" });
    expect(refused).to.have.property("status", 409);
    expect(refused.body.errMsg).to.contain(`the group "migrate" is full`).and.contain(`run ${first} has its place`);
    const again = await installation.call("POST", `/pipelines/${id}/trigger`, { requestId: "once" });
    expect(again.body.errMsg, "a repeat gets the same answer").to.equal(refused.body.errMsg);
    expect((await installation.call("GET", `/pipelines/${id}/runs`)).body.detail.total).to.equal(1);
    await writeFile(file, "");
    await runWith("the first ends", first, ({ status }) => status === "success");
    const next = await until("the place is free", async () => {
      const answer = await installation.call("POST", `/pipelines/${id}/trigger`, {});
      return answer.status === 200 ? answer.body.detail.runId : undefined;
    });
    await runWith("the next one works", next, ({ status }) => status === "success");
  });

  it("bounds the jobs of several runs and of one matrix", async () => {
    const file = newFile();
    const jobs = [
      { name: "build", steps: [{ uses: "shell", args: { script: "true" } }] },
      {
        name: "test",
        needs: "build",
        matrix: { axes: { v: [1, 2] } },
        concurrency: { group: "device ${{ matrix.v }}" },
        steps: [waitForFile(file)],
      },
    ];
    const { pipelineId } = await installation.api.createPipeline("jobs", "");
    await installation.api.saveSpec(pipelineId, { jobs });
    const first = await trigger(pipelineId);
    const busy = (run: { jobs: { status: string }[] }): boolean =>
      run.jobs.filter(({ status }) => status === "running").length === 2;
    await runWith("both cells of the first run work", first, busy);
    const second = await trigger(pipelineId);
    const waiting = await runWith("both cells of the second wait", second, (run) =>
      run.jobs
        .slice(1)
        .every((job: { waitingFor: { reason: string } | null }) => job.waitingFor?.reason === "concurrency"),
    );
    expect(waiting.jobs[2]).to.include({ name: "test (v=2)", status: "pending" });
    expect(waiting.jobs[2].waitingFor).to.include({ reason: "concurrency", group: "device 2", holder: first });
    await writeFile(file, "");
    await runWith("the first ends", first, ({ status }) => status === "success");
    await runWith("then the second", second, ({ status }) => status === "success");
  });
});
