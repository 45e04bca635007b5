/**
 * The evidence that the checker reads after a scenario: the promises to clients, the runs in the store, the marks that
 * the steps wrote, and the lines that viewers saw. Only the stored runs come from the code under test.
 */
import type { EventObject, Lifecycle } from "../../../src/domain/events.ts";
import type { JobStatus, RunStatus, StepStatus } from "../../../src/domain/status.ts";
import type { Leak } from "./secret-search.ts";

export interface Evidence {
  /** Triggers whose answer a client has read. */
  readonly acknowledged: readonly AcknowledgedTrigger[];
  /** Every run of the scenario's pipelines in the store. */
  readonly runs: readonly RunEvidence[];
  /** The marks that steps wrote, in the order of the ledger file. */
  readonly marks: readonly Mark[];
  readonly logs: readonly LogEvidence[];
  readonly agentKills: readonly AgentKill[];
  /** Messages that no owner could decide. */
  readonly deadLetters: readonly string[];
  /** Every value that each secret has had. */
  readonly secretVersions: readonly SecretVersion[];
  /** The secret values that steps reported, as checksums. */
  readonly secretsGiven: readonly SecretGiven[];
  /** Every place in which the search found a secret value. */
  readonly leaks: readonly Leak[];
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
  /** The statuses with which the run may end. The run may also fail because it lost its agents. */
  readonly ends: readonly RunStatus[];
  /**
   * The unit that must not work at the same time as another one of the same kind: the run, or its jobs of the same
   * name.
   */
  readonly exclusion: { readonly unit: "run" | "job"; readonly kind: string } | null;
}

export interface RunEvidence {
  readonly runId: string;
  readonly status: RunStatus;
  readonly settled: boolean;
  /** The number of events, as the snapshot counts them. */
  readonly eventNumber: number;
  readonly jobs: readonly JobEvidence[];
  readonly approvals: readonly { readonly approvalId: string; readonly status: string }[];
  /** In the order of the event log. */
  readonly events: readonly Transition[];
}

/** One attempt of one planned job. */
export interface JobEvidence {
  readonly jobId: string;
  readonly index: number;
  /** Matrix cell of a job whose matrix was made during the run; else null. */
  readonly cell: number | null;
  readonly attempt: number;
  readonly status: JobStatus;
  readonly reason: string;
  readonly agentId: string | null;
  /** True for a job that ended in an earlier run and that the rerun does not repeat. */
  readonly reused: boolean;
  readonly steps: readonly StepEvidence[];
}

export interface StepEvidence {
  readonly stepRunId: string;
  readonly index: number;
  readonly status: StepStatus;
  readonly reason: string;
  readonly reused: boolean;
  /** Set for a builtin step, which writes no marks. */
  readonly silent?: true;
  /** Number of secrets that the step reads. It reports the checksum of each. */
  readonly secrets?: number;
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

/** A kill of an agent. Lines that it had not delivered are lost; a viewer gets a gap record for them. */
export interface AgentKill {
  readonly agentId: string;
  /** Unix milliseconds. */
  readonly at: number;
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
  /** Lines and gap records. `lostThrough` is the last line that a gap record replaces; null for a line. */
  readonly seen: readonly { readonly number: number; readonly text: string; readonly lostThrough: number | null }[];
}

/**
 * - `lost`: a transition, an acknowledged trigger or a line is missing
 * - `doubled`: something that may happen only once happened twice, or two agents ran a step at the same time
 * - `reordered`: a transition or a line stands before its predecessor
 * - `stuck`: a run did not end, or still owes effects
 * - `wrong`: a run or a step ended differently from its definition, a step got a wrong value, or a
 *   message could not be decided
 * - `leaked`: a secret value stands where it may not
 */
export type ViolationKind = "lost" | "doubled" | "reordered" | "stuck" | "wrong" | "leaked";

export interface Violation {
  readonly kind: ViolationKind;
  readonly text: string;
}
