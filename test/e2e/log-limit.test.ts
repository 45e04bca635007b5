/** A real installation whose steps write more than their logs may have. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";
import { TestViewer } from "../support/viewer.ts";

const LIMIT = 20_000;
const WRITTEN = 200_000;

type Params = Readonly<Record<"pipelineId" | "jobId" | "stepRunId", string>>;

describe("the limit of a log in an installation", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  const viewers: TestViewer[] = [];

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    await installation.serve(join(world.folder, "data"), { MILLRACE_STEP_LOG_LINES: String(LIMIT) });
    await installation.agent("only");
  });
  after(async () => {
    await Promise.all(viewers.map((viewer) => viewer.close()));
    await world?.end();
  });

  async function run(name: string, script: string): Promise<{ readonly runId: string; readonly params: Params }> {
    const steps = [{ name: "loud", uses: "shell", args: { script } }];
    const pipelineId = await installation.pipeline(name, [{ name: "job", steps }]);
    const { runId } = await installation.api.trigger(pipelineId, {});
    const job = await until("the job", async () => (await installation.api.run(runId)).jobs[0]);
    return { runId, params: { pipelineId, jobId: job.jobId, stepRunId: job.steps[0]!.stepRunId } };
  }
  const succeeded = (runId: string) =>
    until("the success of the run", async () => (await installation.api.run(runId)).status === "success", 60_000);

  async function follow(params: Params): Promise<TestViewer> {
    const port = Number(installation.node.http!.split(":").at(-1));
    const viewer = await TestViewer.open({ port, adminToken: installation.adminToken });
    viewers.push(viewer);
    viewer.send({ channel: "channel_log", params });
    return viewer;
  }

  /** Follows the log of a step to its end, and answers all entries. */
  // oxlint-disable-next-line typescript/no-explicit-any -- entries as viewers get them
  async function followed(params: Params, lastLine: number): Promise<readonly any[]> {
    const viewer = await follow(params);
    await until(`line ${lastLine}`, () => viewer.entries.at(-1)?.line_number === lastLine, 30_000);
    return viewer.entries;
  }

  it("shows viewers the beginning, the notice, what was lost, and the end of a long log", async () => {
    const { runId, params } = await run("loud", `seq ${WRITTEN}`);
    await succeeded(runId);
    const entries = await followed(params, WRITTEN + 1);
    expect(entries).to.have.length(LIMIT + 2 + 10_000);
    expect(entries[LIMIT - 1]).to.include({ line_number: LIMIT, content: String(LIMIT) });
    expect(entries[LIMIT]!.content).to.include(`has reached its limit of ${LIMIT} lines`);
    const kept = WRITTEN - 10_000;
    expect(entries[LIMIT + 1]).to.include({
      line_number: LIMIT + 2,
      content: `lines ${LIMIT + 2}-${kept + 1} lost`,
      level: "warn",
    });
    expect(entries[LIMIT + 2]).to.include({ line_number: kept + 2, content: String(kept + 1) });
    expect(entries.at(-1)).to.include({ line_number: WRITTEN + 1, content: String(WRITTEN) });
  });

  it("keeps the log whole when the control plane is killed in the midst of it", async () => {
    const go = join(world.folder, "go");
    const script = `seq 15000; until [ -e ${go} ]; do sleep 0.05; done; seq 15001 60000`;
    const { runId, params } = await run("killed", script);
    const viewer = await follow(params);
    await until("lines", () => viewer.entries.length > 1_000, 20_000);
    installation.node.kill("SIGKILL");
    await installation.node.exited;
    await writeFile(go, "");
    await installation.serve(join(world.folder, "data"), { MILLRACE_STEP_LOG_LINES: String(LIMIT) });
    await succeeded(runId);
    const entries = await followed(params, 60_001);
    expect(entries).to.have.length(LIMIT + 2 + 10_000);
    expect(entries[LIMIT + 1]!.content).to.equal(`lines ${LIMIT + 2}-50001 lost`);
    expect(entries.at(-1)).to.include({ line_number: 60_001, content: "60000" });
  });

  it("is the project's own where the project has one", async () => {
    const set = await installation.call("PUT", "/projects/default/log-limit", { lines: 50 });
    expect(set.body.detail).to.deep.include({ lines: 50, own: ["lines"] });
    // A gateway remembers a limit for 5 s.
    await until(
      "a log with the new limit",
      async () => {
        const { runId, params } = await run(`quiet-${Math.random()}`, "seq 31000");
        await succeeded(runId);
        return (await followed(params, 31_001))[51]!.content === "lines 52-21001 lost";
      },
      30_000,
    );
  });
});
