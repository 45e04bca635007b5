/** The status of a step run as a viewer follows it: first a snapshot, then each later event of the step, in order. */
import { type StepState, stepStatus } from "../../../actors/step/state.ts";
import type { RunEvent } from "../../domain/events.ts";
import type { JobRunId, PipelineId, RunId, StepRunId } from "../../domain/ids.ts";
import { STEP_STATUS_CODES } from "../../domain/status.ts";
import type { FollowingContext } from "./context.ts";
import { followObject } from "./object-updates.ts";
import type { RunEventFeed } from "./run-event-feed.ts";
import { timing } from "../times.ts";

export interface StepStatusSnapshot {
  readonly stepRunId: StepRunId;
  readonly pipelineId: PipelineId;
  readonly jobId: JobRunId;
  /** Numeric code of the status. */
  readonly status: number;
  readonly startTime: string | null;
  readonly endTime: string | null;
  /** Milliseconds. */
  readonly duration: number;
}

export type StepStatusUpdate =
  | { readonly type: "snapshot"; readonly snapshot: StepStatusSnapshot }
  | { readonly type: "event"; readonly event: RunEvent };

interface StepStatusRequest {
  readonly runId: RunId;
  readonly stepRunId: StepRunId;
  readonly abort: AbortSignal;
}

/** Ends after the event that makes the step final; for a step that is final already, after the snapshot. */
export async function* followStepStatus(
  context: FollowingContext,
  runEvents: RunEventFeed,
  { runId, stepRunId, abort }: StepStatusRequest,
): AsyncGenerator<StepStatusUpdate, void, void> {
  const step = { runId, kind: "step", id: stepRunId } as const;
  for await (const update of followObject(runEvents, step, { after: undefined, abort })) {
    if (update.type === "event") {
      yield update;
      continue;
    }
    const { jobId, state, startedAt, endedAt } = update.actor.state as StepState;
    const snapshot: StepStatusSnapshot = {
      stepRunId,
      pipelineId: update.pipelineId,
      jobId,
      status: STEP_STATUS_CODES[stepStatus(state)],
      ...timing(startedAt, endedAt, context.clock.now()),
    };
    yield { type: "snapshot", snapshot };
  }
}
