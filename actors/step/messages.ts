/** What a step actor is told, and by whom. */
import type { AgentId } from "../../src/domain/ids.ts";
import type { ResourceUsage } from "../../src/domain/resource-usage.ts";

/** The right to run a step: saved with the actor, and named by every report. */
export interface Grant {
  readonly agentId: AgentId;
  readonly bootId: string;
  readonly requestId: string;
  /** Fencing token: grows with each grant of the same job. */
  readonly token: number;
}

/** `notStarted`: the agent could not start it, which says nothing of others. */
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
  /** Last log line of a final report; 0 for none. */
  readonly lastLine: number;
  /** Outputs have been stored under this token. */
  readonly hasOutputs: boolean;
  /** How long the process ran by the agent's clock, milliseconds. */
  readonly durationMs: number;
  /** Of final reports alone; null when the agent cannot tell. */
  readonly usage: ResourceUsage | null;
}

export type StepMessage =
  /** From the job: run this step under this grant. A repeat sends the dispatch again unless it has started. */
  | { readonly type: "dispatch"; readonly grant: Grant }
  /** From the job. */
  | { readonly type: "cancel"; readonly reason: string; readonly graceMs: number }
  | { readonly type: "skip"; readonly reason: string }
  | { readonly type: "agentLost"; readonly reason: string }
  | StepReported;
