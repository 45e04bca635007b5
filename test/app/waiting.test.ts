import { expect } from "chai";
import { newJob } from "../../actors/job/state.ts";
import type { RunPhase } from "../../actors/run/state.ts";
import type { Gates } from "../../src/app/gate-waits.ts";
import { jobWaitingFor, runWaitingFor } from "../../src/app/waiting.ts";
import type { PresenceRecord } from "../../src/dispatch/board.ts";
import { asId, type AgentId, type RunId } from "../../src/domain/ids.ts";
import { planOf } from "../support/plans.ts";

const plan = planOf([
  [{ name: "build" }],
  [
    { name: "test", needs: [] },
    { name: "report", needs: [1], selector: { matchLabels: [["os", "linux"]], matchExpressions: [] } },
  ],
]);
const job = (index: number, patch: object) => ({
  ...newJob(asId<RunId>("run_1"), plan.jobs[index]!),
  ...patch,
});
const agent = (labels: Record<string, string>, busy: number): PresenceRecord => ({
  agentId: asId<AgentId>("agt_1"),
  bootId: "b",
  gatewayId: "g",
  labels,
  slots: 1,
  busy,
});

const NONE: Gates = { approvals: new Map(), groups: new Map() };
const run = (state: RunPhase) => ({ runId: asId<RunId>("run_1"), state, place: null, stageApproval: null });

describe("why a job waits", () => {
  it("is the stage before it while its own is closed", () => {
    expect(jobWaitingFor(job(1, {}), plan, [], NONE)).to.deep.equal({
      reason: "stage",
      text: "waits for stage stage-0 to end",
    });
    expect(jobWaitingFor(job(0, {}), plan, [], NONE)).to.include({
      reason: "stage",
      text: "waits for the run to begin",
    });
  });

  it("is the jobs that it needs, by name", () => {
    const waiting = jobWaitingFor(job(2, { stageOpen: true, openNeeds: [1] }), plan, [], NONE);
    expect(waiting).to.deep.equal({ reason: "needs", text: "waits for test", needs: ["test"] });
  });

  it("is the pause, whatever agents there are", () => {
    const waiting = jobWaitingFor(job(0, { state: "queued", stageOpen: true, paused: true }), plan, [], NONE);
    expect(waiting).to.include({ reason: "paused" });
  });

  it("tells agents that are missing, unfit and busy apart", () => {
    const queued = job(2, { state: "queued", stageOpen: true, openNeeds: [] });
    expect(jobWaitingFor(queued, plan, [], NONE)).to.include({ reason: "no_agent_online" });
    const unfit = jobWaitingFor(queued, plan, [agent({ os: "mac" }, 0), agent({}, 0)], NONE);
    expect(unfit).to.deep.equal({ reason: "no_agent_matches", text: "no online agent matches: os=linux fails on 2" });
    expect(jobWaitingFor(queued, plan, [agent({ os: "linux" }, 1)], NONE)).to.include({ reason: "all_busy" });
    expect(jobWaitingFor(queued, plan, [agent({ os: "linux" }, 0)], NONE)).to.include({ reason: "agent" });
    expect(jobWaitingFor(queued, plan, null, NONE)).to.include({ reason: "agent" });
  });

  it("is nothing once the job runs or has ended", () => {
    for (const state of ["running", "cancelling", "success", "failed", "cancelled"]) {
      expect(jobWaitingFor(job(0, { state }), plan, [], NONE)).to.equal(null);
    }
  });

  it("of a run is a worker, then nothing, or the pause", () => {
    expect(runWaitingFor(run("pending"), plan, NONE)).to.include({ reason: "worker" });
    expect(runWaitingFor(run("running"), plan, NONE)).to.equal(null);
    expect(runWaitingFor(run("paused"), plan, NONE)).to.include({ reason: "paused" });
  });
});
