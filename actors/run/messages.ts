/** What a run actor is told, and by whom. */
import type { PlaceCommand } from "../../src/domain/commands.ts";
import type { CommandId } from "../../src/domain/ids.ts";
import type { ApprovalResult } from "../approval/messages.ts";

/** How a job ended for its run. `tolerated`: failed, and the definition said `continueOnError`. */
export type JobResult = "success" | "failed" | "tolerated" | "cancelled" | "upstream_failed";

export type RunMessage =
  /** From the trigger, and from the sweep that finds the start timer due. */
  | RunTimerFired
  /** From a stored command. */
  | { readonly type: "stop"; readonly commandId: CommandId; readonly reason: string; readonly operator: string }
  | { readonly type: "pause"; readonly commandId: CommandId; readonly reason: string; readonly operator: string }
  | { readonly type: "resume"; readonly commandId: CommandId; readonly reason: string; readonly operator: string }
  /** From the group of the run, or of one of its jobs, which is told. */
  | (PlaceCommand & { readonly type: PlaceCommand["kind"]; readonly commandId: CommandId })
  /** From the approval that the next stage waits for. */
  | { readonly type: "approvalEnded"; readonly result: ApprovalResult }
  /** From a job whose last attempt has ended. */
  | { readonly type: "jobEnded"; readonly index: number; readonly result: JobResult }
  /** From a job that lost its agent and goes on as a new attempt. */
  | { readonly type: "jobRetried"; readonly index: number; readonly attempt: number };

/** `start` begins the run; `timeout` is the pipeline's bound. */
export interface RunTimerFired {
  readonly type: "timer";
  readonly timer: "start" | "timeout";
  readonly generation: number;
}
