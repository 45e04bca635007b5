/** The messages of a run actor, and who sends each. */
import type { PlaceCommand } from "../../src/domain/commands.ts";
import type { AgentId, CommandId, StepRunId } from "../../src/domain/ids.ts";
import type { ApprovalResult } from "../approval/messages.ts";

/** How a job ended for its run. `tolerated`: the job failed, and its definition says `continueOnError`. */
export type JobResult = "success" | "failed" | "tolerated" | "cancelled" | "upstream_failed";

export type RunMessage =
  /** From the kernel, when a timer is due: in the first turn of the run, and later. */
  | RunTimerFired
  /** From a stored command. */
  | { readonly type: "stop"; readonly commandId: CommandId; readonly reason: string; readonly operator: string }
  | { readonly type: "pause"; readonly commandId: CommandId; readonly reason: string; readonly operator: string }
  | { readonly type: "resume"; readonly commandId: CommandId; readonly reason: string; readonly operator: string }
  /** From a stored command: the events of a step run up to this sequence are stored. */
  | EventsPushed
  /** From the group of the run, or from the group of one of its jobs, to which the run passes it on. */
  | (PlaceCommand & { readonly type: PlaceCommand["kind"]; readonly commandId: CommandId })
  /** From the approval that the next stage waits for. */
  | { readonly type: "approvalEnded"; readonly result: ApprovalResult }
  /** From a job whose last attempt has ended. */
  | { readonly type: "jobEnded"; readonly index: number; readonly result: JobResult }
  /** From a job that lost its agent, or could not start a step, and makes another attempt. */
  | { readonly type: "jobRetried"; readonly index: number; readonly attempt: number };

export interface EventsPushed {
  readonly type: "eventsPushed";
  readonly commandId: CommandId;
  readonly stepRunId: StepRunId;
  readonly agentId: AgentId;
  readonly token: number;
  readonly through: number;
}

/** `start` begins the run; `timeout` is the pipeline's timeout. */
export interface RunTimerFired {
  readonly type: "timer";
  readonly timer: "start" | "timeout";
  readonly generation: number;
}
