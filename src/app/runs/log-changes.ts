/** Logs each change of the status of a run, a job or a step, with the ids by which other lines and traces are found. */
import { jobStatus, type JobState } from "../../../actors/job/state.ts";
import { runStatus, type RunState } from "../../../actors/run/state.ts";
import { stepStatus, type StepState } from "../../../actors/step/state.ts";
import type { Logger } from "../../domain/logger.ts";
import type { StoredActor } from "../../stores/ports/aggregates.ts";

type Actor = Pick<StoredActor, "kind" | "id" | "state">;

/**
 * `changed`: the actors that a save stores; `before`: all actors of the aggregate before the save, by id. A run of
 * thousands of jobs changes many at once, so the lines are for debugging.
 */
export function logChanges(log: Logger, changed: readonly Actor[], before: ReadonlyMap<string, Actor>): void {
  for (const { kind, id, state } of changed) {
    const was = before.get(id)?.state;
    if (kind === "run") {
      const { runId, pipelineId, state: phase, reason } = state as RunState;
      const status = runStatus(phase);
      if (was !== undefined && runStatus((was as RunState).state) === status) continue;
      log.debug({ runId, pipelineId, status, reason }, "the status of a run");
    } else if (kind === "job") {
      const { runId, jobId, state: phase, reason, attempt } = state as JobState;
      const status = jobStatus(phase);
      if (was !== undefined && jobStatus((was as JobState).state) === status) continue;
      log.debug({ runId, jobId, status, reason, attempt }, "the status of a job");
    } else if (kind === "step") {
      const { runId, jobId, stepRunId, state: phase, reason, attempt } = state as StepState;
      const status = stepStatus(phase);
      if (was !== undefined && stepStatus((was as StepState).state) === status) continue;
      log.debug({ runId, jobId, stepRunId, status, reason, attempt }, "the status of a step");
    }
  }
}
