/** The status of a step run as a viewer follows it: a snapshot, then each later event of the step, in order. */
import { type StepState, stepStatus } from "../../actors/step/state.ts";
import { MillraceError } from "../domain/errors.ts";
import type { RunEvent } from "../domain/events.ts";
import type { JobRunId, PipelineId, RunId, StepRunId } from "../domain/ids.ts";
import { isActiveStepStatus, STEP_STATUS_CODES, type StepStatus } from "../domain/status.ts";
import { runChannel } from "../feed/feed.ts";
import type { AppContext } from "./context.ts";
import { Signal } from "./signal.ts";
import { noStepRun } from "./step-runs.ts";
import { timing } from "./times.ts";

const REREAD_MS = 5_000;
/** After a gap: the missing event may be stored a moment later than a newer one is heard of. */
const GAP_REREAD_MS = 200;
const EVENTS_AT_ONCE = 200;
const FEED_BUFFER_EVENTS = 1_000;

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
  context: AppContext,
  { runId, stepRunId, abort }: StatusFollowing,
): AsyncGenerator<StatusNews, void, void> {
  const heard = new HeardEvents();
  const unsubscribe = await context.feed
    .subscribe(runChannel(runId), (payload) => {
      heard.add(payload as RunEvent);
      heard.changed.raise();
    })
    .catch(() => undefined);
  try {
    const { snapshot, eventNumber, status } = await readSnapshot(context, runId, stepRunId);
    yield { type: "snapshot", snapshot };
    if (!isActiveStepStatus(status)) return;

    let last = eventNumber;
    let rereadAt = context.clock.monotonic() + REREAD_MS;
    while (!abort.aborted) {
      if (context.clock.monotonic() >= rereadAt || heard.hasGapAfter(last)) {
        const stored = await readEvents(context, runId, last);
        for (const event of stored) heard.add(event);
        rereadAt = context.clock.monotonic() + (stored.length < EVENTS_AT_ONCE ? REREAD_MS : 0);
      }
      for (const event of heard.takeAfter(last)) {
        last = event.number;
        if (event.object !== "step" || event.stepRunId !== stepRunId) continue;
        yield { type: "event", event };
        if (!isActiveStepStatus(event.status as StepStatus)) return;
      }
      const gap = heard.hasGapAfter(last);
      await heard.changed.wait(gap ? GAP_REREAD_MS : Math.max(0, rereadAt - context.clock.monotonic()), abort);
    }
  } finally {
    await unsubscribe?.().catch(() => {});
  }
}

/** Events that are known and not yet given; bounded, since all of them can be read from the store. */
class HeardEvents {
  readonly changed = new Signal();
  readonly #byNumber = new Map<number, RunEvent>();

  add(event: RunEvent): void {
    // The oldest go first: the gap that they leave leads to the store.
    if (this.#byNumber.size >= FEED_BUFFER_EVENTS) this.#byNumber.delete(this.#byNumber.keys().next().value!);
    this.#byNumber.set(event.number, event);
  }

  /** True when events after `last` are known, but not the one that comes next. */
  hasGapAfter(last: number): boolean {
    this.#forgetThrough(last);
    return this.#byNumber.size > 0 && !this.#byNumber.has(last + 1);
  }

  /** The events that follow number `last` without a hole. */
  takeAfter(last: number): readonly RunEvent[] {
    this.#forgetThrough(last);
    const events: RunEvent[] = [];
    for (let number = last + 1; ; number++) {
      const event = this.#byNumber.get(number);
      if (event === undefined) return events;
      this.#byNumber.delete(number);
      events.push(event);
    }
  }

  #forgetThrough(last: number): void {
    for (const number of this.#byNumber.keys()) {
      if (number <= last) this.#byNumber.delete(number);
    }
  }
}

/** State and event number come from one snapshot: findStep may lag behind the head, and would lose an event between. */
async function readSnapshot(
  context: AppContext,
  runId: RunId,
  stepRunId: StepRunId,
): Promise<{ readonly snapshot: StepSnapshot; readonly eventNumber: number; readonly status: StepStatus }> {
  const aggregate = await context.stores.aggregates.load(runId);
  const actor = aggregate?.actors.find(({ kind, id }) => kind === "step" && id === stepRunId);
  if (aggregate === undefined || actor === undefined) throw noStepRun(stepRunId);
  const step = actor.state as StepState;
  const status = stepStatus(step.state);
  return {
    snapshot: {
      stepRunId,
      pipelineId: aggregate.head.summary.pipelineId,
      jobId: step.jobId,
      status: STEP_STATUS_CODES[status],
      ...timing(step.startedAt, step.endedAt, context.clock.now()),
    },
    eventNumber: aggregate.head.eventNumber,
    status,
  };
}

/** What the store has after `last`; nothing while it is away, since the next look will find it. */
async function readEvents(context: AppContext, runId: RunId, last: number): Promise<readonly RunEvent[]> {
  try {
    return await context.stores.events.read(runId, last, EVENTS_AT_ONCE);
  } catch (error) {
    if (!(error instanceof MillraceError && error.reason === "unavailable")) throw error;
    context.log.debug({ runId, error: error.message }, "a status is followed without the store");
    return [];
  }
}
