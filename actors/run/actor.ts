/** Binds the run actor to the kernel. */
import type { ActorIndex, RunSummary, RunWaits } from "../../src/stores/ports/aggregates.ts";
import type { ActorKind } from "../kernel/actor-kind.ts";
import { decideRun, outstandingRun } from "./decide.ts";
import type { RunMessage } from "./messages.ts";
import { type RunState, runStatus } from "./state.ts";

export const runActor: ActorKind<RunState, RunMessage> = {
  decide: decideRun,
  index: indexRun,
  timers: (run) => [
    ["start", run.startTimer],
    ["timeout", run.timeoutTimer],
  ],
  outstanding: outstandingRun,
  waitsForAgent: () => null,
  heldBy: () => null,
};

export function indexRun(run: RunState): ActorIndex {
  return { position: 0, jobId: null, status: runStatus(run.state), attempt: 1, agentId: null };
}

/** The summary of a run that lists of runs show. */
export function summariseRun(run: RunState, bound: boolean, waits: RunWaits | null): RunSummary {
  const { pipelineId, projectId, createdAt, startedAt, endedAt } = run;
  return { pipelineId, projectId, status: runStatus(run.state), createdAt, startedAt, endedAt, bound, waits };
}
