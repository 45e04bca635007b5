/** What a job actor is told, and by whom. */
import type { AgentWait } from "../../src/domain/agent-wait.ts";
import type { AgentId, CommandId, RunId, StepRunId } from "../../src/domain/ids.ts";
import type { ApprovalResult } from "../approval/messages.ts";
import type { JobResult } from "../run/messages.ts";
import type { Gate } from "../../src/planner/gate.ts";

/** How a step ended for its job; `lost`: its agent is gone, so nobody knows; `notStarted`: its agent could not begin it. */
export type StepOutcome = "success" | "failed" | "timeout" | "cancelled" | "lost" | "notStarted";

/** Why a stage, a job or a step does not run. */
export type ClosedGate = Exclude<Gate, "open"> | "approval_rejected" | "approval_expired";

export type JobMessage =
  /** From the run: the job's stage has begun; `failed`: a job of an earlier one has, and the stage did not ask for that. */
  | { readonly type: "stageOpened"; readonly failed: boolean }
  /** From the run: the job's stage does not run. */
  | { readonly type: "stageClosed"; readonly gate: ClosedGate }
  /** From a job that this one needs; `passed`: it succeeded, or its failure is tolerated. */
  | { readonly type: "needEnded"; readonly index: number; readonly passed: boolean }
  /** From a cell of the job, which is spread: its last attempt has ended, or it begins anew. */
  | { readonly type: "cellDone"; readonly cell: number; readonly result: JobResult }
  | { readonly type: "cellRetried"; readonly cell: number; readonly attempt: number }
  /** From the approval that it waits for. */
  | { readonly type: "approvalEnded"; readonly result: ApprovalResult }
  /** From its group, through the run: it has a place; it is to end for `by`; it gets no place, since `by` has it. */
  | { readonly type: "placed" }
  | { readonly type: "superseded"; readonly by: RunId | null }
  | { readonly type: "placeRefused"; readonly by: RunId | null }
  /** From the run: another cell of its matrix has ended. */
  | { readonly type: "cellEnded" }
  /** From the run. */
  | { readonly type: "cancel"; readonly reason: "cancelled" | "timeout" | "fail_fast" }
  /** From stored commands: it is to end, whatever it does, or because of the step that it runs. */
  | AskedToEnd
  | { readonly type: "pause" }
  | { readonly type: "resume" }
  /** From a gateway: an agent with a free slot asks for this job. */
  | ClaimRequested
  /** From the watcher of queued jobs: why none of them takes it. */
  | JobWaits
  /** From one of its steps. */
  | {
      readonly type: "stepEnded";
      readonly stepRunId: StepRunId;
      readonly outcome: StepOutcome;
      /** Of its process; null when there is none. */
      readonly exitCode: number | null;
    }
  /** From the watcher of leases, or from a gateway to which the agent came back with another boot id. */
  | AgentLost
  | { readonly type: "timer"; readonly timer: JobTimer; readonly generation: number };

/** `retry`: the wait before the next attempt of a step. */
export type JobTimer = "queueTimeout" | "timeout" | "retry";

export type AskedToEnd = { readonly commandId: CommandId; readonly operator: string; readonly reason: string } & (
  | { readonly type: "cancelJob" }
  | { readonly type: "cancelStep"; readonly stepRunId: StepRunId }
);

export type StepEnded = JobMessage & { readonly type: "stepEnded" };

export interface ClaimRequested {
  readonly type: "claimRequested";
  readonly agentId: AgentId;
  readonly bootId: string;
  /** Chosen by the gateway or by a pulling agent; a repeat asks for the same answer. */
  readonly requestId: string;
  /** Names of the quotas in which the job would have a place on that agent; absent for none. */
  readonly quotas?: readonly string[];
}

export type JobWaits = { readonly type: "waits" } & AgentWait;

/** The agent, as it was with `bootId`, holds nothing any more. */
export interface AgentLost {
  readonly type: "agentLost";
  readonly agentId: AgentId;
  readonly bootId: string;
  /** For people: why it counts as lost. */
  readonly reason: string;
}
