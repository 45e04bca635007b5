/**
 * The evidence that the checker reads after a scenario: what clients sent and were promised, what the faults took away,
 * the runs in the store, the marks that the steps wrote, and the lines that viewers saw. Only the stored runs come from
 * the code under test.
 */
import type { EventObject, Lifecycle } from "../../../src/domain/events.ts";
import type { Pairs } from "../../../src/domain/pairs.ts";
import type { Scalar } from "../../../src/domain/plan.ts";
import type { JobStatus, RunStatus, StepStatus } from "../../../src/domain/status.ts";
import type { Definition } from "../load/step.ts";
import type { Leak } from "./secret-search.ts";

export interface Evidence {
  /** Triggers whose answer a client has read. */
  readonly acknowledged: readonly AcknowledgedTrigger[];
  /** Pauses that were accepted. */
  readonly pauses: readonly AcknowledgedPause[];
  /** Runs with a pause whose answer the client never got: it may have happened or not. */
  readonly unansweredPauses: readonly string[];
  /** Runs whose stop was accepted. */
  readonly stops: readonly string[];
  /** Votes that were accepted, each once, however often its call was repeated. */
  readonly votes: readonly AcknowledgedVote[];
  /** Every run of the scenario's pipelines in the store. */
  readonly runs: readonly RunEvidence[];
  /** Runs of attackers. Nothing is known of what their callers were promised. */
  readonly attackers?: readonly RunEvidence[];
  /** The marks that steps wrote, in the order of the ledger file. */
  readonly marks: readonly Mark[];
  readonly logs: readonly LogEvidence[];
  /** When which agent was away. */
  readonly absences: readonly Absence[];
  /** When Redis or the store was away, for all nodes. */
  readonly outages: readonly Span[];
  /** When the store answered, but lost calls of all nodes again and again. */
  readonly disturbances: readonly Span[];
  /** Messages that no owner could decide. */
  readonly deadLetters: readonly string[];
  /** Every value that each secret has had. */
  readonly secretVersions: readonly SecretVersion[];
  /** The secret values that steps reported, as checksums. */
  readonly secretsGiven: readonly SecretGiven[];
  /** Every place in which the search found a secret value. */
  readonly leaks: readonly Leak[];
  /** What the control plane has promised to start by itself. */
  readonly starts: readonly PromisedStart[];
  /** Commit statuses in the order in which the host of the repository has taken them. */
  readonly statuses: readonly SetStatus[];
  /** Number of killed processes and of servers and networks that were taken away. */
  readonly kills: number;
  /** True when a worker was frozen or cut off, and may have done late what it had begun. */
  readonly hasZombies: boolean;
}

/** A time of a schedule, or a delivery of a hook and one of the triggers that it matches. */
export interface PromisedStart {
  /** `startedBy` of its run. */
  readonly by: string;
  /** False for a time at which the schedule was just made or paused: it may have a run. */
  readonly isCertain: boolean;
  readonly definition: Definition;
  /** As that of an {@link AcknowledgedTrigger}. */
  readonly exclusion: AcknowledgedTrigger["exclusion"];
  /** Ids of the runs that the API tells of the time or the delivery. */
  readonly told: readonly string[];
  /** The commit whose status tells of the run; null for a run that is not reported. */
  readonly commit: string | null;
}

/** A state of a commit that the host has taken. */
export interface SetStatus {
  readonly commit: string;
  readonly name: string;
  readonly state: "pending" | "running" | "success" | "failure" | "cancelled";
}

export interface SecretVersion {
  /** Owner and name of the secret, such as `project/PLAIN`. */
  readonly secret: string;
  /** Counted from 1. */
  readonly number: number;
  /** SHA-256 of the value, in hexadecimal digits. */
  readonly sum: string;
  /** When the client sent the value, in Unix milliseconds. */
  readonly fromMs: number;
  /** When the next value was acknowledged, in Unix milliseconds; `Infinity` for the last value. */
  readonly untilMs: number;
}

export interface SecretGiven {
  readonly stepRunId: string;
  readonly secret: string;
  readonly sum: string;
}

export interface AcknowledgedTrigger {
  readonly requestId: string;
  readonly runId: string;
  /** As the client sent it. */
  readonly definition: Definition;
  /** The vote of the client on every approval of the run. */
  readonly vote: Vote;
  /** The run whose failed jobs this one repeats; null for any other run. */
  readonly repeats: string | null;
  /** The statuses with which the run may end. The run may also fail because it lost its agents. */
  readonly ends: readonly RunStatus[];
  /**
   * The unit that must not work at the same time as another one of the same kind: the run, or its jobs of the same
   * name.
   */
  readonly exclusion: { readonly unit: "run" | "job"; readonly kind: string } | null;
}

export type Vote = "approve" | "reject";

export interface AcknowledgedPause {
  readonly runId: string;
  /** When the client sent the resume, in Unix milliseconds. */
  readonly resumeSentAt: number;
}

export interface AcknowledgedVote {
  readonly runId: string;
  readonly approvalId: string;
  readonly word: Vote;
}

/** A time in Unix milliseconds. */
export interface Span {
  readonly fromMs: number;
  /** `Infinity` when it lasted to the end. */
  readonly untilMs: number;
}

/**
 * `killed`: the agent's process was killed, and what it ran died with it. `frozen`, `cutOff`: it could not reach the
 * control plane. `refusing`: it could start no step.
 */
export interface Absence extends Span {
  readonly agentId: string;
  readonly how: "killed" | "frozen" | "cutOff" | "refusing";
}

export interface RunEvidence {
  readonly runId: string;
  /** Names the time of a schedule, or the commit of a delivery and the trigger; null for a run that a client has triggered. */
  readonly startedBy: string | null;
  readonly status: RunStatus;
  readonly settled: boolean;
  /** Number of effects that the head lists as owed. */
  readonly owed: number;
  /** The number of events, as the snapshot counts them. */
  readonly eventNumber: number;
  readonly jobs: readonly JobEvidence[];
  readonly approvals: readonly ApprovalEvidence[];
  /** In the order of the event log. */
  readonly events: readonly Transition[];
  /** What the snapshot says of each actor. */
  readonly actors: readonly ActorEvidence[];
  /** The projections as the database held them, and once the store had loaded the run, which repairs them. */
  readonly rows: { readonly before: readonly ProjectionRow[]; readonly after: readonly ProjectionRow[] };
}

/** One attempt of one planned job. */
export interface JobEvidence {
  readonly jobId: string;
  readonly index: number;
  /** The job's name in the definition, and the values of its cell. */
  readonly name: string;
  readonly values: Pairs<Scalar>;
  /** Matrix cell of a job whose matrix was made during the run; else null. */
  readonly cell: number | null;
  readonly attempt: number;
  readonly status: JobStatus;
  readonly reason: string;
  readonly agentId: string | null;
  /** The fencing token of the grant; null when the attempt had none. */
  readonly token: number | null;
  /** How long an agent that holds the job may be silent, in milliseconds. */
  readonly leaseMs: number;
  /** True for a job that ended in an earlier run and that the rerun does not repeat. */
  readonly reused: boolean;
  readonly steps: readonly StepEvidence[];
}

export interface StepEvidence {
  readonly stepRunId: string;
  readonly index: number;
  readonly attempt: number;
  readonly status: StepStatus;
  readonly reason: string;
  /** The fencing token of the grant; null when the step was never dispatched. */
  readonly token: number | null;
  readonly reused: boolean;
  /** Set for a builtin step, which writes no marks. */
  readonly silent?: true;
  /** Number of secrets that the step reads. It reports the checksum of each. */
  readonly secrets?: number;
}

export interface ApprovalEvidence {
  readonly approvalId: string;
  readonly status: string;
  /** Ids of the users whose votes the snapshot holds. */
  readonly approvers: readonly string[];
  readonly rejecter: string | null;
}

/** An actor as the snapshot holds it. */
export interface ActorEvidence {
  readonly kind: string;
  readonly id: string;
  /** The word for the actor's state, finer than its status. */
  readonly phase: string;
  readonly attempt: number;
  /** The agent of its grant; null without a grant. */
  readonly agentId: string | null;
  /** The whole state, as it is stored. */
  readonly state: unknown;
}

/** What look-ups and lists read of an actor: a row of a table, or a document of a projection. */
export interface ProjectionRow {
  readonly kind: string;
  readonly id: string;
  readonly status: string;
  readonly attempt: number;
  readonly position: number;
  readonly jobId: string | null;
  readonly agentId: string | null;
  readonly state: unknown;
}

/** A transition of an object, as the event log of the run holds it. */
export interface Transition {
  readonly number: number;
  readonly object: EventObject;
  readonly lifecycle: Lifecycle;
  readonly jobId: string | null;
  readonly stepRunId: string | null;
  readonly status: string;
  /** Holds `approvalId` for the object `approval`. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly timeMs: number;
}

/**
 * A line that a step writes into the ledger file: `start` and `end` first and last, `beat` every 100 ms between them.
 */
export interface Mark {
  readonly word: "start" | "beat" | "end";
  readonly stepRunId: string;
  readonly jobId: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** The lines of one step as a viewer saw them, over all connections of the viewer. */
export interface LogEvidence {
  readonly stepRunId: string;
  /** Number of lines that the step writes: `line 1` to `line N`. */
  readonly written: number;
  /** True when the step writes more than its agent has room for, so that the oldest lines may give way. */
  readonly mayOverflow: boolean;
  /**
   * Lines and gap records. `text` lacks the filling that makes a line long. `lostThrough` is the last line that a gap
   * record replaces; null for a line.
   */
  readonly seen: readonly { readonly number: number; readonly text: string; readonly lostThrough: number | null }[];
}

/**
 * - `lost`: a transition, an acknowledged trigger or a line is missing
 * - `doubled`: something that may happen only once happened twice, or two agents ran a step at the same time
 * - `reordered`: a transition or a line stands before its predecessor
 * - `stuck`: a run did not end, or still owes effects
 * - `wrong`: a run or a step ended differently from its definition, a step got a wrong value, a projection differs from
 *   its snapshot, or a message could not be decided
 * - `leaked`: a secret value stands where it may not
 */
export type ViolationKind = "lost" | "doubled" | "reordered" | "stuck" | "wrong" | "leaked";

export interface Violation {
  readonly kind: ViolationKind;
  readonly text: string;
}
