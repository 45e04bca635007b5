/** The status of a step run as a viewer follows it: a snapshot, then each later event of the step, in order. */
import { type StepState, stepStatus } from "../../../actors/step/state.ts";
import type { RunEvent } from "../../domain/events.ts";
import type { JobRunId, PipelineId, RunId, StepRunId } from "../../domain/ids.ts";
import { STEP_STATUS_CODES } from "../../domain/status.ts";
import type { FollowingContext } from "./context.ts";
import { followObject } from "./follow-object.ts";
import type { RunTails } from "./run-tails.ts";
import { timing } from "../times.ts";

export interface StepSnapshot {
  readonly stepRunId: StepRunId;
  readonly pipelineId: PipelineId;
  readonly jobId: JobRunId;
  /** Numeric code. */
  readonly status: number;
  readonly startTime: string | null;
  readonly endTime: string | null;
  /** Milliseconds. */
  readonly duration: number;
}

export type StatusNews =
  | { readonly type: "snapshot"; readonly snapshot: StepSnapshot }
  | { readonly type: "event"; readonly event: RunEvent };

interface StatusFollowing {
  readonly runId: RunId;
  readonly stepRunId: StepRunId;
  readonly abort: AbortSignal;
}

/** Ends after the event that makes the step final; for a final step, after the snapshot. */
export async function* followStatus(
  context: FollowingContext,
  tails: RunTails,
  { runId, stepRunId, abort }: StatusFollowing,
): AsyncGenerator<StatusNews, void, void> {
  const step = { runId, kind: "step", id: stepRunId } as const;
  for await (const news of followObject(context, tails, step, { after: undefined, abort })) {
    if (news.type === "event") {
      yield news;
      continue;
    }
    const { jobId, state, startedAt, endedAt } = news.actor.state as StepState;
    const snapshot: StepSnapshot = {
      stepRunId,
      pipelineId: news.head.summary.pipelineId,
      jobId,
      status: STEP_STATUS_CODES[stepStatus(state)],
      ...timing(startedAt, endedAt, context.clock.now()),
    };
    yield { type: "snapshot", snapshot };
  }
}
