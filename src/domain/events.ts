/** Events: what happened to a run, its jobs, steps and approvals, numbered within the run. */
import type { JobRunId, PipelineId, RunId, StepRunId } from "./ids.ts";

export const LIFECYCLES = [
  "created",
  "queued",
  "started",
  "completed",
  "failed",
  "cancelled",
  "timeout",
  "skipped",
  "paused",
  "resumed",
  "retried",
  "waiting",
  "stopping",
  "requested",
  "approved",
  "rejected",
  "expired",
  "updated",
  "pushed",
] as const;
/** `waiting`, `stopping`, `updated` and `pushed` do not change the status of the object. */
export type Lifecycle = (typeof LIFECYCLES)[number];

export const EVENT_OBJECTS = ["pipeline", "job", "step", "approval"] as const;
export type EventObject = (typeof EVENT_OBJECTS)[number];

/** The cause of a transition: the message from outside the aggregate from which it follows, and the sender. */
export interface Cause {
  /** `trigger`, `stop`, `claimRequested`, `reported` ..., or `timer:` and the timer's name. */
  readonly cause: string;
  /** A user's name or an agent's id; empty when neither has sent the message. */
  readonly by: string;
}

/** An event as an actor publishes it. The kernel adds number, time and run when it saves the event. */
export interface EventDraft {
  readonly object: EventObject;
  readonly lifecycle: Lifecycle;
  /** Present for objects `job` and `step`. */
  readonly jobId: JobRunId | null;
  /** Present for object `step`. */
  readonly stepRunId: StepRunId | null;
  /** Status word of the object after the event. */
  readonly status: string;
  /**
   * Fields beyond the published vocabulary: reason, exit code, agent, attempt, and the {@link Cause} once decided.
   * Never secrets.
   */
  readonly data: Readonly<Record<string, string | number | boolean | null>>;
}

/** One event of a run's ordered log; `runId` and `number` together are its id. */
export interface RunEvent extends EventDraft {
  readonly runId: RunId;
  readonly pipelineId: PipelineId;
  /** From 1, without gaps within a run. */
  readonly number: number;
  readonly timeMs: number;
  /**
   * What the agent has pushed, for an event `pushed`. It is a record of its own: reads of the store add it, and what is
   * published or saved lacks it.
   */
  readonly pushed?: PushedContent;
}

/** The content of an event that an agent has pushed about a step run. */
export interface PushedContent {
  /** The type of the event: `<namespace>.step.<word>`. */
  readonly type: string;
  /** Chosen by the agent. */
  readonly eventId: string;
  /** The subject within the step run; empty for none. */
  readonly subject: string;
  /** Unix milliseconds, by the clock of the agent. */
  readonly time: number;
  /** Text of a JSON object. */
  readonly data: string;
}

/** Events that agents push about the steps of one run, at most. */
export const MAX_PUSHED_EVENTS = 10_000;

/** Bounds of the events that agents push. */
export const PUSHED_EVENT_BOUNDS = {
  batchEvents: 1_000,
  /** Of the data of one event, as JSON. */
  dataBytes: 65_536,
  /** JSON of more levels cannot be written again: that takes a frame of the stack for each. */
  dataLevels: 100,
} as const;

/** `svc.step.started`: the CloudEvents type of an event. */
export function eventType(namespace: string, event: Pick<RunEvent, "object" | "lifecycle" | "pushed">): string {
  return event.pushed?.type ?? `${namespace}.${event.object}.${event.lifecycle}`;
}

/** `pipeline:<id>:job:<id>:step:<id>`, shorter for jobs and runs. */
export function eventSubject(event: Pick<RunEvent, "pipelineId" | "jobId" | "stepRunId">): string {
  let subject = `pipeline:${event.pipelineId}`;
  if (event.jobId !== null) subject += `:job:${event.jobId}`;
  if (event.stepRunId !== null) subject += `:step:${event.stepRunId}`;
  return subject;
}
