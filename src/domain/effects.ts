/**
 * Effects: what `decide` returns besides the next state, as data. `send` and `spawn` are done within the turn, in
 * memory; every other effect is saved as owed with the snapshot and performed after the save. Each may be performed
 * again after a crash, so each is idempotent at its target.
 */
import type { CommandBody } from "./commands.ts";
import type { EventDraft } from "./events.ts";
import type { AgentId, CommandId, JobRunId, ProjectId, RootId, RunId, StepRunId } from "./ids.ts";
import type { AgentSelector } from "./labels.ts";
import type { ApprovalStatus, JobStatus, RunStatus, StepStatus } from "./status.ts";

/** Where a message goes within one aggregate. */
export interface ActorRef {
  readonly kind: string;
  readonly id: string;
}

/** A queued job on the board: a hint that it waits; the grant is decided by the job actor. */
export interface Offer {
  readonly runId: RunId;
  readonly jobId: JobRunId;
  readonly jobIndex: number;
  readonly projectId: ProjectId;
  readonly selector: AgentSelector;
  /** Larger goes first. */
  readonly priority: number;
  /** Unix milliseconds of the time at which the job began to wait. */
  readonly queuedAt: number;
}

/** A granted step on its way to the agent. The agent's boot id and the token are what the actor has saved. */
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

/** What became of a stored command. */
export interface Verdict {
  readonly outcome: "accepted" | "refused";
  /** After it was decided, of what it spoke of: the run, a job or a step of it, or an approval. */
  readonly status: RunStatus | JobStatus | StepStatus | ApprovalStatus;
  /** Of a place in a group that was refused: the run that has it. */
  readonly by?: RunId | null;
}

export type OwedEffect =
  | { readonly type: "publish"; readonly event: EventDraft }
  | {
      readonly type: "schedule";
      readonly to: ActorRef;
      readonly timer: string;
      readonly generation: number;
      readonly dueAt: number;
    }
  | { readonly type: "offer"; readonly offer: Offer }
  | { readonly type: "withdraw"; readonly jobId: JobRunId; readonly projectId: ProjectId }
  /** A granted job has places in quotas, by their names; and gives them up when it ends. */
  | { readonly type: "occupy"; readonly jobId: JobRunId; readonly quotas: readonly string[] }
  | { readonly type: "vacate"; readonly jobId: JobRunId; readonly quotas: readonly string[] }
  | { readonly type: "dispatch"; readonly order: GrantedStep }
  /** Ask the agent to end a step: politely, then by force after the grace. */
  | {
      readonly type: "revoke";
      readonly agentId: AgentId;
      readonly jobId: JobRunId;
      readonly stepRunId: StepRunId;
      readonly token: number;
      readonly graceMs: number;
      readonly reason: string;
    }
  /** The job is over at its agent: the slot is free, the workspace can go; `succeeded` is missing in what older nodes owe. */
  | { readonly type: "release"; readonly agentId: AgentId; readonly jobId: JobRunId; readonly succeeded?: boolean }
  /** A final report is processed: the agent may forget it. */
  | { readonly type: "acknowledge"; readonly agentId: AgentId; readonly stepRunId: StepRunId; readonly token: number }
  /** The report is of a grant that is over: the agent kills that step and forgets it. */
  | { readonly type: "refuse"; readonly agentId: AgentId; readonly stepRunId: StepRunId; readonly token: number }
  /** The claimed job is not to be had (any more). */
  | { readonly type: "refuseClaim"; readonly agentId: AgentId; readonly requestId: string }
  /** Something said to another aggregate: it is stored in that one's inbox, under an id that is the same for the same thing. */
  | { readonly type: "command"; readonly to: RootId; readonly commandId: CommandId; readonly body: CommandBody }
  | { readonly type: "answer"; readonly commandId: CommandId; readonly verdict: Verdict };

/** An effect within the aggregate: decided in the same turn. */
export type LocalEffect<Message, State> =
  | { readonly type: "send"; readonly to: ActorRef; readonly message: Message }
  | { readonly type: "spawn"; readonly actor: ActorRef; readonly state: State };

/** What `decide` returns; `next` is the same object when nothing changed. */
export interface Decision<State, Effect> {
  /** What the transition table says: a target state (also the state that the actor was in), `same` or `late`. */
  readonly entry: "moved" | "same" | "late";
  readonly next: State;
  readonly effects: readonly Effect[];
}
