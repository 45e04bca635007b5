/**
 * What the checker is given after a scenario: what clients were promised, what the store holds, what the steps
 * themselves wrote, and what viewers saw. None of it is taken from the code that is under test but the stored words.
 */
import type { EventObject, Lifecycle } from "../../../src/domain/events.ts";
import type { JobStatus, RunStatus, StepStatus } from "../../../src/domain/status.ts";
import type { Leak } from "./secret-search.ts";

export interface Evidence {
  /** Triggers whose answer a client has read. */
  readonly acknowledged: readonly AcknowledgedTrigger[];
  /** Every run of the scenario's pipelines in the store. */
  readonly runs: readonly RunEvidence[];
  /** What the steps wrote, in the order of the file. */
  readonly marks: readonly Mark[];
  readonly logs: readonly LogEvidence[];
  readonly agentKills: readonly AgentKill[];
  /** Messages that no owner could decide. */
  readonly deadLetters: readonly string[];
  /** Every value that a secret has had. */
  readonly secretVersions: readonly SecretVersion[];
  /** What the steps say that they were given. */
  readonly secretsGiven: readonly SecretGiven[];
  /** Where a value was found that ought to be nowhere. */
  readonly leaks: readonly Leak[];
}

export interface SecretVersion {
  /** Whose it is, and its name. */
  readonly secret: string;
  /** From 1. */
  readonly number: number;
  /** SHA-256 of the value, in hexadecimal digits. */
  readonly sum: string;
  /** When it was sent, Unix milliseconds. */
  readonly fromMs: number;
  /** When the next one had been acknowledged; `Infinity` of the last one. */
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
  /** The ends that this run may have; an end by the loss of agents is allowed besides. */
  readonly ends: readonly RunStatus[];
  /** Of runs of which no two of the same kind may work at once: as a whole, or their jobs of the same name. */
  readonly alone: { readonly unit: "run" | "job"; readonly kind: string } | null;
}

export interface RunEvidence {
  readonly runId: string;
  readonly status: RunStatus;
  readonly settled: boolean;
  /** How many events the snapshot says that there are. */
  readonly eventNumber: number;
  readonly jobs: readonly JobEvidence[];
  readonly approvals: readonly { readonly approvalId: string; readonly status: string }[];
  /** In the order of the ledger. */
  readonly events: readonly Transition[];
}

/** One attempt of one planned job. */
export interface JobEvidence {
  readonly jobId: string;
  readonly index: number;
  /** Of a job that was spread when it began; else null. */
  readonly cell: number | null;
  readonly attempt: number;
  readonly status: JobStatus;
  readonly reason: string;
  readonly agentId: string | null;
  /** It was not run again: it has ended in an earlier run, and nothing becomes of it in this one. */
  readonly reused: boolean;
  readonly steps: readonly StepEvidence[];
}

export interface StepEvidence {
  readonly stepRunId: string;
  readonly index: number;
  readonly status: StepStatus;
  readonly reason: string;
  readonly reused: boolean;
  /** A builtin, which writes no marks. */
  readonly silent?: true;
  /** How many secrets it reads; it tells of each. */
  readonly secrets?: number;
}

/** A line of the ledger of transitions: an event as it was published. */
export interface Transition {
  readonly number: number;
  readonly object: EventObject;
  readonly lifecycle: Lifecycle;
  readonly jobId: string | null;
  readonly stepRunId: string | null;
  readonly status: string;
  /** With `approvalId` for the object `approval`. */
  readonly data?: Readonly<Record<string, unknown>>;
  readonly timeMs: number;
}

/** Lines that an agent had not yet delivered die with it; a viewer is told which. */
export interface AgentKill {
  readonly agentId: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** `start` and `end` stand at the ends of a step's process, beats between them. */
export interface Mark {
  readonly word: "start" | "beat" | "end";
  readonly stepRunId: string;
  readonly jobId: string;
  /** Unix milliseconds. */
  readonly at: number;
}

/** Lines of one step as a viewer saw them, over all its connections. */
export interface LogEvidence {
  readonly stepRunId: string;
  /** Lines that the step writes: `line 1` to `line N`. */
  readonly written: number;
  /** Lines, and records of gaps with the last line that they stand for. */
  readonly seen: readonly { readonly number: number; readonly text: string; readonly lostThrough: number | null }[];
}

/**
 * - `lost`: a transition, an acknowledged trigger or a line is missing
 * - `doubled`: something that may happen once happened twice, or two agents ran one step at a time
 * - `reordered`: a transition or a line stands before what it follows from
 * - `stuck`: a run did not end, or still owes something
 * - `wrong`: a run or a step ended otherwise than its definition says, or was given a wrong value, or a message could not
 *   be decided
 * - `leaked`: the value of a secret stands where it may not
 */
export type ViolationKind = "lost" | "doubled" | "reordered" | "stuck" | "wrong" | "leaked";

export interface Violation {
  readonly kind: ViolationKind;
  readonly text: string;
}
