/** The result of a step run that has ended, as the agent knows it. */
import type { StepPhase } from "../../proto/generated/agent/v1/agent.ts";
import type { StepNotes } from "../domain/notes/notes.ts";
import type { ResourceUsage } from "../domain/resource-usage.ts";
import type { StepOutputs } from "./step-outputs.ts";

/** A lost step has no outputs and no notes. */
export interface StepEnd extends StepNotes {
  readonly phase: StepPhase;
  /** -1 when the step has none. */
  readonly exitCode: number;
  /** Why the step ended so, as text for users; empty on success. */
  readonly reason: string;
  /** The number of the last log line; 0 when there is none. */
  readonly lastLine: bigint;
  /** The outputs before the first that cannot be read. */
  readonly outputs: StepOutputs["outputs"];
  /** Unix milliseconds; 0 when the step did not start. */
  readonly startedAtMs: number;
  /** Unix milliseconds; 0 when the step did not start. */
  readonly endedAtMs: number;
  /** Undefined when the system does not report it. */
  readonly usage: ResourceUsage | undefined;
}
