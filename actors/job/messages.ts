/** The messages of a job actor, and who sends each. */
import type { AgentWait } from "../../src/domain/agent-wait.ts";
import type { StepChange, StepFacts } from "../../src/domain/commands.ts";
import type { AgentId, CommandId, RunId, StepRunId } from "../../src/domain/ids.ts";
import type { ApprovalResult } from "../approval/messages.ts";
import type { JobResult } from "../run/messages.ts";
import type { Gate } from "../../src/planner/gate.ts";

/**
 * How a step ended for its job. `lost`: the agent is lost or has lost the step, so the end is not known. `notStarted`:
 * the agent could not start it.
 */
export type StepOutcome = "success" | "failed" | "timeout" | "cancelled" | "lost" | "notStarted";

/** Why a stage, a job or a step does not run. */
export type ClosedGate = Exclude<Gate, "open"> | "approval_rejected" | "approval_expired";

export type JobMessage =
  /**
   * From the run: the job's stage opens. `failed`: a job of an earlier stage has failed, and the stage has no condition
   * that accepts it.
   */
  | { readonly type: "stageOpened"; readonly failed: boolean }
  /** From the run: the job's stage does not run. */
  | { readonly type: "stageClosed"; readonly gate: ClosedGate }
  /** From a job that this one needs; `passed`: it succeeded, or its failure is tolerated. */
  | { readonly type: "needEnded"; readonly index: number; readonly passed: boolean }
  /**
   * From a cell of this job, which was spread: the cell's last attempt has ended, or the cell makes another attempt.
   */
  | { readonly type: "cellDone"; readonly cell: number; readonly result: JobResult }
  | { readonly type: "cellRetried"; readonly cell: number; readonly attempt: number }
  /** From the approval that the job waits for. */
  | { readonly type: "approvalEnded"; readonly result: ApprovalResult }
  /**
   * From the job's group, through the run: the job has a place; it must end for the run `by`; it gets no place, because
   * `by` has it.
   */
  | { readonly type: "placed" }
  | { readonly type: "superseded"; readonly by: RunId | null }
  | { readonly type: "placeRefused"; readonly by: RunId | null }
  /** From the run: another cell of the job's matrix has ended. */
  | { readonly type: "cellEnded" }
  /** From the run. */
  | { readonly type: "cancel"; readonly reason: "cancelled" | "timeout" | "fail_fast" }
  /** From stored commands: a user cancels the job, or the step that it runs. */
  | UserCancel
  /** From a stored command: a user changes a step that is not dispatched. */
  | UpdateStep
  | { readonly type: "pause" }
  | { readonly type: "resume" }
  /** From a gateway: an agent with a free slot claims this job. */
  | ClaimRequested
  /** From the queue watcher: why no agent takes the job. */
  | JobWaits
  /** From one of the job's steps. */
  | {
      readonly type: "stepEnded";
      readonly stepRunId: StepRunId;
      readonly outcome: StepOutcome;
      /** Exit code of the step's process; null when there is none. */
      readonly exitCode: number | null;
    }
  /** From the lease watcher, or from a gateway to which the agent came back with another boot id. */
  | AgentLost
  | { readonly type: "timer"; readonly timer: JobTimer; readonly generation: number };

/** `retry`: the wait before the next attempt of a step, or of the job. */
export type JobTimer = "queueTimeout" | "timeout" | "retry";

export type UserCancel = { readonly commandId: CommandId; readonly operator: string; readonly reason: string } & (
  | { readonly type: "cancelJob" }
  | { readonly type: "cancelStep"; readonly stepRunId: StepRunId }
);

export interface UpdateStep {
  readonly type: "updateStep";
  readonly commandId: CommandId;
  readonly operator: string;
  readonly stepRunId: StepRunId;
  readonly change: StepChange;
  readonly expected?: StepFacts;
}

export type StepEnded = JobMessage & { readonly type: "stepEnded" };

export interface ClaimRequested {
  readonly type: "claimRequested";
  readonly agentId: AgentId;
  readonly bootId: string;
  /** Chosen by the gateway, or by an agent that pulls. A repeat with the same id gets the same answer. */
  readonly requestId: string;
  /** Names of the quotas in which the job has a place while this agent holds it; absent for none. */
  readonly quotas?: readonly string[];
}

export type JobWaits = { readonly type: "waits" } & AgentWait;

/** The agent holds nothing that it was granted under `bootId`. */
export interface AgentLost {
  readonly type: "agentLost";
  readonly agentId: AgentId;
  readonly bootId: string;
  /** For people: why the agent counts as lost. */
  readonly reason: string;
}
