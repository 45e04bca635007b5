/** The messages of a step actor, and who sends each. */
import type { AgentId } from "../../src/domain/ids.ts";
import type { Pairs } from "../../src/domain/pairs.ts";
import type { ResourceUsage } from "../../src/domain/resource-usage.ts";

/** The right to run a step. It is saved with the actor, and every report names it. */
export interface Grant {
  readonly agentId: AgentId;
  readonly bootId: string;
  readonly requestId: string;
  /** Fencing token: grows with each grant of the same job. */
  readonly token: number;
}

/**
 * `lost`: the agent cannot tell what became of the step. `notStarted`: the agent could not start the step; another
 * agent may.
 */
export type ReportPhase = "started" | "succeeded" | "failed" | "cancelled" | "timedOut" | "lost" | "notStarted";

/** From the agent that holds the step, through a gateway. Reports are cumulative: a final one implies the start. */
export interface StepReported {
  readonly type: "reported";
  readonly agentId: AgentId;
  readonly token: number;
  readonly phase: ReportPhase;
  /** -1 when there is none. */
  readonly exitCode: number;
  readonly reason: string;
  /** Number of the last log line, in a final report; 0 for none. */
  readonly lastLine: number;
  /** True when outputs of the step are stored under this token. */
  readonly hasOutputs: boolean;
  /** How long the process ran by the agent's clock, milliseconds. */
  readonly durationMs: number;
  /** In final reports only; null when the agent could not measure it. */
  readonly usage: ResourceUsage | null;
}

export type StepMessage =
  /** From the job: run this step under this grant. A repeat dispatches the step again, unless it has started. */
  | { readonly type: "dispatch"; readonly grant: Grant }
  /** From the job. */
  | { readonly type: "cancel"; readonly reason: string; readonly graceMs: number }
  | { readonly type: "skip"; readonly reason: string }
  | { readonly type: "agentLost"; readonly reason: string }
  /** Replaces the metadata of a step that is not dispatched. */
  | { readonly type: "describe"; readonly metadata: Pairs<string> }
  /** From the run: the pushed events of the step up to this sequence enter the log of the run. */
  | { readonly type: "logEvents"; readonly through: number }
  | StepReported;
