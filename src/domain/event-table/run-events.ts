/**
 * The table of all events of runs: what each type means, and the fields of its data. Actors can publish nothing else, and
 * docs/events.md is written from it. Import only types from here where zod must not be loaded.
 */
import { z } from "zod";
import type { Cause, EventDraft } from "../events.ts";
import { APPROVAL_STATUSES, JOB_STATUS_CODES, RUN_STATUS_CODES, STEP_STATUS_CODES } from "../status.ts";

/** A type of event: when it is published, and the fields that its data have besides those of every event. */
export interface EventKind {
  readonly when: string;
  readonly data: z.ZodObject;
  /** Fields of the data that reads of the store add. */
  readonly added?: z.ZodObject;
}

const text = z.string();
const position = z.int().min(0);
const statuses = (codes: object) => z.enum(Object.keys(codes) as [string, ...string[]]);

const agentId = text.nullable().describe("Id of the agent that has the job, or null.");
const attempt = z.int().min(1).describe("Number of the attempt, from 1.");
const reason = text.describe("Why, for people; empty when there is nothing to say.");
const retryOf = text.nullable().describe("Id of the attempt before this one, or null.");
const waits = {
  waitingFor: text.describe("`agent`, `approval`, `concurrency` or another reason."),
  text: text.describe("What is waited for, for people."),
};

const pipeline = z.strictObject({
  runId: text.describe("Id of the run."),
  reason,
  retryOf: text.nullable().describe("Id of the run that this one repeats, or null."),
});
const job = z.strictObject({
  index: position.describe("Position of the job in the plan, from 0."),
  attempt,
  retryOf,
  reason,
  agentId,
});
const step = z.strictObject({
  index: position.describe("Position of the step in its job, from 0."),
  jobIndex: position.describe("Position of the job in the plan, from 0."),
  attempt,
  retryOf,
  reason,
  exitCode: z.int().nullable().describe("Exit code of the step's process, or null."),
  agentId: text.nullable().describe("Id of the agent that runs the step, or null."),
});
const pushed = z.strictObject({
  index: step.shape.index,
  jobIndex: step.shape.jobIndex,
  attempt,
  agentId: text.describe("Id of the agent that runs the step."),
  sequence: z.int().min(1).describe("Number of the event within its step run, from 1 without gaps."),
});
const pushedContent = z.strictObject({
  eventId: text.describe("Id of the event, chosen by the agent."),
  subject: text.describe("The subject within the step run, as the agent says; empty for none."),
  reportedAt: z.iso.datetime().describe("When it happened, by the clock of the agent."),
  payload: z.record(text, z.unknown()).describe("The data of the event, as the agent or the step has sent them."),
});
const update = {
  priority: z.int().nullable().describe("New priority of the job of the step, or null when it stays."),
  metadataKeys: text.nullable().describe("Names of the new notes, separated by commas, or null when the notes stay."),
};
const approval = z.strictObject({
  approvalId: text.describe("Id of the approval."),
  name: text.describe("What is approved, for people."),
  approvals: position.describe("Approvals that were given."),
  missing: position.describe("Approvals that are missing."),
  comment: text.describe("What the voter said; empty without a comment."),
});

export const RUN_EVENTS = {
  pipeline: {
    created: { when: "The run is made.", data: pipeline },
    waiting: { when: "The run waits for a place in its group, or for an approval.", data: pipeline.extend(waits) },
    started: { when: "The run begins.", data: pipeline },
    paused: { when: "A user has paused the run.", data: pipeline },
    resumed: { when: "A user has resumed the run.", data: pipeline },
    stopping: { when: "The run ends its jobs: it was stopped, or is out of time.", data: pipeline },
    completed: { when: "The run has ended as `success` or `partial`.", data: pipeline },
    failed: { when: "The run has failed.", data: pipeline },
    cancelled: { when: "The run was stopped, and its jobs have ended.", data: pipeline },
  },
  job: {
    waiting: { when: "The job waits for an agent, an approval or a place in its group.", data: job.extend(waits) },
    queued: { when: "The job can be given to an agent.", data: job },
    started: { when: "An agent has the job.", data: job },
    stopping: { when: "The job was cancelled, and its step is asked to end.", data: job },
    retried: { when: "The job has another attempt, which this event is of.", data: job },
    completed: { when: "The job has succeeded.", data: job },
    failed: { when: "The job has failed.", data: job },
    cancelled: { when: "The job was cancelled.", data: job },
    skipped: { when: "The condition of the job is not met.", data: job },
  },
  step: {
    queued: { when: "The step is on its way to the agent.", data: step },
    started: { when: "The agent has started the step.", data: step },
    retried: { when: "The step has another attempt, which this event is of.", data: step },
    completed: { when: "The step has succeeded.", data: step },
    failed: { when: "The step has failed.", data: step },
    cancelled: { when: "The step was cancelled.", data: step },
    timeout: { when: "The step took longer than its timeout.", data: step },
    skipped: { when: "The step does not run.", data: step },
    pushed: {
      when: "The agent or the step itself has sent an event, which is told under the type that it has: `step.` and a word of theirs.",
      data: pushed,
      added: pushedContent,
    },
    updated: {
      when: "A user has changed the priority or the metadata of a step that waits.",
      data: step.extend(update),
    },
  },
  approval: {
    requested: { when: "Someone has to approve.", data: approval },
    approved: { when: "An approval was given.", data: approval },
    rejected: { when: "The approval was rejected.", data: approval },
    expired: { when: "No decision came in time.", data: approval },
    cancelled: { when: "The approval is not needed any more.", data: approval },
  },
} as const satisfies Record<EventDraft["object"], Partial<Record<EventDraft["lifecycle"], EventKind>>>;

type Objects = typeof RUN_EVENTS;

/** An event of the table as an actor publishes it; the kernel adds the cause. */
export type PublishedEvent = {
  [O in keyof Objects]: {
    [L in keyof Objects[O]]: Omit<EventDraft, "object" | "lifecycle" | "data"> & {
      readonly object: O;
      readonly lifecycle: L;
      readonly data: Readonly<DataOf<Objects[O][L]>> & Partial<Cause>;
    };
  }[keyof Objects[O]];
}[keyof Objects];

type DataOf<K> = K extends { readonly data: infer D extends z.ZodObject } ? z.infer<D> : never;

/** The lifecycle words of an object. */
export type LifecycleOf<O extends EventDraft["object"]> = keyof Objects[O] & EventDraft["lifecycle"];

const STATUSES = {
  pipeline: statuses(RUN_STATUS_CODES),
  job: statuses(JOB_STATUS_CODES),
  step: statuses(STEP_STATUS_CODES),
  approval: z.enum(APPROVAL_STATUSES),
} as const satisfies Record<EventDraft["object"], z.ZodType>;

/** The whole `data` of the CloudEvent of a type. */
export function payloadOf(object: EventDraft["object"], { data, added }: EventKind): z.ZodObject {
  return data.extend({
    ...added?.shape,
    runId: text.describe("Id of the run."),
    number: z.int().min(1).describe("Number of the event within its run, from 1 without gaps."),
    status: STATUSES[object].describe("Status of the object after the event."),
    time: z.iso.datetime().describe("When it happened."),
    cause: text.optional().describe("Name of the message or timer from which it follows, such as `trigger` or `stop`."),
    by: text.optional().describe("Name of the user or id of the agent that sent that message, or empty."),
  });
}
