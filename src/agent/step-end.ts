/** What the agent knows of a step run that is over. */
import type { StepPhase } from "../../proto/generated/agent/v1/agent.ts";
import type { ResourceUsage } from "../domain/resource-usage.ts";
import type { StepOutputs } from "./step-outputs.ts";

export interface StepEnd {
  readonly phase: StepPhase;
  /** -1 when there is none. */
  readonly exitCode: number;
  /** For people; empty on success. */
  readonly reason: string;
  readonly lastLine: bigint;
  /** Up to the first that cannot be read; none of a lost step. */
  readonly outputs: StepOutputs["outputs"];
  /** Unix milliseconds; 0 when the process did not start. */
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** Undefined when nobody can tell. */
  readonly usage: ResourceUsage | undefined;
}
