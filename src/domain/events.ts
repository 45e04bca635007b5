/** Events of the published vocabulary: what happened to a run, job, step or agent, numbered per run. */
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
] as const;
/** `waiting` and `stopping` say something of an object whose status stays as it is. */
export type Lifecycle = (typeof LIFECYCLES)[number];

export const EVENT_OBJECTS = ["pipeline", "job", "step", "approval"] as const;
export type EventObject = (typeof EVENT_OBJECTS)[number];

/** What made a transition come about: the message with which its chain began, and who sent it. */
export interface Cause {
  /** `trigger`, `stop`, `claimRequested`, `reported` ..., or `timer:` and its name. */
  readonly cause: string;
  /** A user's name or an agent's id; empty where nobody did. */
  readonly by: string;
}

/** What an actor says; number, time and the enclosing run are added when it is saved. */
export interface EventDraft {
  readonly object: EventObject;
  readonly lifecycle: Lifecycle;
  /** Present for objects `job` and `step`. */
  readonly jobId: JobRunId | null;
  /** Present for object `step`. */
  readonly stepRunId: StepRunId | null;
  /** Status word of the object after the event. */
  readonly status: string;
  /** Ours alone: reason, exit code, agent, attempt, and once it is decided its {@link Cause}; never text with secrets. */
  readonly data: Readonly<Record<string, string | number | boolean | null>>;
}

/** One event of a run's ordered log; `runId` and `number` together are its id. */
export interface RunEvent extends EventDraft {
  readonly runId: RunId;
  readonly pipelineId: PipelineId;
  /** From 1, without gaps within a run. */
  readonly number: number;
  readonly timeMs: number;
}

/** `svc.step.started`: the CloudEvents type of an event. */
export function eventType(namespace: string, event: Pick<EventDraft, "object" | "lifecycle">): string {
  return `${namespace}.${event.object}.${event.lifecycle}`;
}

/** `pipeline:<id>:job:<id>:step:<id>`, shorter for jobs and runs. */
export function eventSubject(event: Pick<RunEvent, "pipelineId" | "jobId" | "stepRunId">): string {
  let subject = `pipeline:${event.pipelineId}`;
  if (event.jobId !== null) subject += `:job:${event.jobId}`;
  if (event.stepRunId !== null) subject += `:step:${event.stepRunId}`;
  return subject;
}
