/**
 * Effects: data that `decide` returns beside the next state. `send` and `spawn` are done in memory, within the turn.
 * Every other effect is saved with the snapshot as owed, and performed after the save. After a crash it may be
 * performed again, so each effect is idempotent at its target.
 */
import type { CommandBody } from "./commands.ts";
import type { PublishedEvent } from "./event-table/run-events.ts";
import type {
  AgentId,
  CommandId,
  JobRunId,
  PipelineId,
  ProjectId,
  RootId,
  RunId,
  ScheduleId,
  StepRunId,
  TimetableId,
} from "./ids.ts";
import type { AgentSelector } from "./labels.ts";
import type { Pairs } from "./pairs.ts";
import type { ApprovalStatus, JobStatus, RunStatus, StepStatus } from "./status.ts";

/** The address of an actor within its aggregate. */
export interface ActorRef {
  readonly kind: string;
  readonly id: string;
}

/** A queued job on the board. An offer is a hint: the job actor decides whether a claim is granted. */
export interface Offer {
  readonly runId: RunId;
  readonly jobId: JobRunId;
  readonly jobIndex: number;
  readonly projectId: ProjectId;
  readonly selector: AgentSelector;
  /** Larger goes first. */
  readonly priority: number;
  /** When the job began to wait for an agent, Unix milliseconds. */
  readonly queuedAt: number;
}

/** A granted step on its way to the agent. Boot id and token are those of the grant that the job actor has saved. */
export interface GrantedStep {
  readonly agentId: AgentId;
  readonly bootId: string;
  readonly runId: RunId;
  readonly jobId: JobRunId;
  readonly jobIndex: number;
  readonly jobAttempt: number;
  readonly stepRunId: StepRunId;
  readonly stepIndex: number;
  readonly token: number;
  /** The claim that this grant answers; empty for later steps of a bound job. */
  readonly requestId: string;
}

/** The answer of an actor to a stored command. */
export interface Verdict {
  readonly outcome: "accepted" | "refused";
  /** Status after the decision, of the object of the command: the run, one of its jobs or steps, or an approval. */
  readonly status: RunStatus | JobStatus | StepStatus | ApprovalStatus;
  /** The run that has the place, when a place in a group was refused. */
  readonly by?: RunId | null;
  /** For pushed events: those of the step run up to this sequence are in the log of the run. */
  readonly through?: number;
}

/** A timer that an actor has set; only a fired timer of the same generation counts. */
export interface Timer {
  readonly generation: number;
  /** Unix milliseconds. */
  readonly dueAt: number;
}

export interface StartRunEffect {
  readonly type: "startRun";
  readonly scheduleId: ScheduleId;
  readonly pipelineId: PipelineId;
  /** The name of the trigger. */
  readonly name: string;
  /** The time at which it was due, Unix milliseconds. */
  readonly at: number;
  readonly runId: RunId;
  /** Null: the default branch of the pipeline. */
  readonly ref: string | null;
  readonly variables: Pairs<string>;
}

export interface ReadTriggersEffect {
  readonly type: "readTriggers";
  readonly timetableId: TimetableId;
  readonly pipelineId: PipelineId;
  readonly generation: number;
}

export type OwedEffect =
  | { readonly type: "publish"; readonly event: PublishedEvent }
  | {
      readonly type: "schedule";
      readonly to: ActorRef;
      readonly timer: string;
      readonly generation: number;
      readonly dueAt: number;
    }
  | { readonly type: "offer"; readonly offer: Offer }
  /**
   * The job's offer leaves the board, unless the job was offered again after `queuedAt`; absent: whenever it was offered.
   * `projectId` is part of the stored format, and no board needs it.
   */
  | {
      readonly type: "withdraw";
      readonly jobId: JobRunId;
      readonly projectId: ProjectId;
      readonly queuedAt?: number;
    }
  /** A granted job has a place in each of these quotas, and gives the places up when it ends (`vacate`). */
  | { readonly type: "occupy"; readonly jobId: JobRunId; readonly quotas: readonly string[] }
  | { readonly type: "vacate"; readonly jobId: JobRunId; readonly quotas: readonly string[] }
  | { readonly type: "dispatch"; readonly order: GrantedStep }
  /** The agent ends a step: politely, and by force after `graceMs`. */
  | {
      readonly type: "revoke";
      readonly agentId: AgentId;
      readonly jobId: JobRunId;
      readonly stepRunId: StepRunId;
      readonly token: number;
      readonly graceMs: number;
      readonly reason: string;
    }
  /**
   * The job has ended at its agent: the slot is free, and the workspace can be removed. Effects of older nodes have no
   * `succeeded`.
   */
  | { readonly type: "release"; readonly agentId: AgentId; readonly jobId: JobRunId; readonly succeeded?: boolean }
  /** A final report was processed: the agent may forget the step. */
  | { readonly type: "acknowledge"; readonly agentId: AgentId; readonly stepRunId: StepRunId; readonly token: number }
  /** A report names a grant that is over: the agent kills that step and forgets it. */
  | { readonly type: "refuse"; readonly agentId: AgentId; readonly stepRunId: StepRunId; readonly token: number }
  /** The agent does not get the job that was claimed for it. */
  | { readonly type: "refuseClaim"; readonly agentId: AgentId; readonly requestId: string }
  /**
   * A command to another aggregate, stored in its inbox. The same command always has the same id, so that a repeat
   * changes nothing.
   */
  | { readonly type: "command"; readonly to: RootId; readonly commandId: CommandId; readonly body: CommandBody }
  /** A worker creates a run of the pipeline, and stores the answer for the schedule. */
  | StartRunEffect
  /** A worker reads the triggers of the pipeline's definition, and stores them for the timetable. */
  | ReadTriggersEffect
  | { readonly type: "answer"; readonly commandId: CommandId; readonly verdict: Verdict };

/** An effect within the aggregate, done in the same turn. */
export type LocalEffect<Message, State> =
  | { readonly type: "send"; readonly to: ActorRef; readonly message: Message }
  | { readonly type: "spawn"; readonly actor: ActorRef; readonly state: State };

/** The result of `decide`; `next` is the same object when nothing changed. */
export interface Decision<State, Effect> {
  /** What the transition table says: a target state (also the state that the actor was in), `same` or `late`. */
  readonly entry: "moved" | "same" | "late";
  readonly next: State;
  readonly effects: readonly Effect[];
}
