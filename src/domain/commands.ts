/** What is stored in the inbox of an aggregate: asked by users through an edge, or by actors of other aggregates. */
import type { GroupMember } from "./groups.ts";
import type { ApprovalId, JobRunId, ProjectId, RunId, StepRunId, UserId } from "./ids.ts";
import type { PlannedGroup } from "./plan.ts";

export type CommandBody = UserCommand | CancelCommand | VoteCommand | EnterCommand | LeaveCommand | PlaceCommand;

/** From the edges, to a run. */
export interface UserCommand {
  readonly kind: "stop" | "pause" | "resume";
  readonly reason: string;
  /** Who asked, as the user named themselves, and the authenticated caller. */
  readonly operator: string;
  readonly actor: string;
}

/** From the edges, to one job of a run, or to what that job runs now. */
export type CancelCommand = {
  readonly jobId: JobRunId;
  readonly reason: string;
  readonly operator: string;
  readonly actor: string;
} & ({ readonly kind: "cancelJob" } | { readonly kind: "cancelStep"; readonly stepRunId: StepRunId });

/** From the edges, to a run of which an approval is pending. */
export interface VoteCommand {
  readonly kind: "approve" | "reject";
  readonly approvalId: ApprovalId;
  /** The authenticated caller, who may. */
  readonly voter: { readonly userId: UserId; readonly name: string };
  readonly comment: string;
}

/** To a group, from a run or a job that needs a place; a repeat asks for the same answer. */
export interface EnterCommand {
  readonly kind: "enter";
  readonly member: GroupMember;
  readonly projectId: ProjectId;
  /** With its final name. */
  readonly group: PlannedGroup;
  /** By the trigger of a run that is not stored yet: it is answered, and told nothing else. */
  readonly isReservation: boolean;
}

/** To a group, from a member that has ended. */
export interface LeaveCommand {
  readonly kind: "leave";
  readonly member: GroupMember;
}

/** From a group to the run of a member; `by` is the run for which it has to end, or that has what it asked for. */
export interface PlaceCommand {
  readonly kind: "placed" | "superseded" | "placeRefused";
  readonly member: GroupMember;
  readonly by: RunId | null;
}
