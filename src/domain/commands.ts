/** Commands in the inbox of an aggregate, from users through an edge or from actors of other aggregates. */
import type { GroupMember } from "./groups.ts";
import type { AgentId, ApprovalId, JobRunId, PipelineId, ProjectId, RunId, StepRunId, UserId } from "./ids.ts";
import type { Pairs } from "./pairs.ts";
import type { PlannedGroup } from "./plan.ts";
import type { ScheduleSpec, StartOutcome } from "./schedules.ts";

export type CommandBody =
  | UserCommand
  | CancelCommand
  | UpdateCommand
  | PushEventsCommand
  | VoteCommand
  | EnterCommand
  | LeaveCommand
  | PlaceCommand
  | TriggersCommand
  | ScheduleCommand
  | RunEndedCommand;

/** From a user to a run. */
export interface UserCommand {
  readonly kind: "stop" | "pause" | "resume";
  readonly reason: string;
  /** The user, by the name that the request gives. */
  readonly operator: string;
  /** The authenticated caller. */
  readonly actor: string;
}

/** From a user to one job of a run, or to the step that the job runs. */
export type CancelCommand = {
  readonly jobId: JobRunId;
  readonly reason: string;
  readonly operator: string;
  readonly actor: string;
} & ({ readonly kind: "cancelJob" } | { readonly kind: "cancelStep"; readonly stepRunId: StepRunId });

/** What a user changes of a step run that is not dispatched. */
export interface StepChange {
  /** Of the job that the step belongs to: jobs with a larger priority are offered first. Absent: it stays. */
  readonly priority?: number;
  /** Replaces all metadata of the step run. Absent: it stays. */
  readonly metadata?: Pairs<string>;
}

/** What the change of a step run was decided on. */
export type StepFacts = Required<StepChange>;

/** From a user to the job of a step run. */
export interface UpdateCommand {
  readonly kind: "updateStep";
  readonly jobId: JobRunId;
  readonly stepRunId: StepRunId;
  readonly change: StepChange;
  /** The change is refused unless the step run is still so. Absent: it is made on any state. */
  readonly expected?: StepFacts;
  readonly operator: string;
  readonly actor: string;
}

/** From a gateway to a run: the events of a step run up to a sequence are stored, and belong into the log of the run. */
export interface PushEventsCommand {
  readonly kind: "pushEvents";
  readonly stepRunId: StepRunId;
  readonly agentId: AgentId;
  /** Fencing token of the dispatch. */
  readonly token: number;
  readonly through: number;
}

/** From a user to a run with a pending approval. */
export interface VoteCommand {
  readonly kind: "approve" | "reject";
  readonly approvalId: ApprovalId;
  /** The authenticated caller; the edge has checked that this user may vote. */
  readonly voter: { readonly userId: UserId; readonly name: string };
  readonly comment: string;
}

/** From a run or a job that needs a place, to its group. A repeat gets the same answer. */
export interface EnterCommand {
  readonly kind: "enter";
  readonly member: GroupMember;
  readonly projectId: ProjectId;
  /** The group, with its name evaluated. */
  readonly group: PlannedGroup;
  /**
   * True when a trigger reserves a place for a run that is not stored yet: the group answers the command, and sends the
   * run no message.
   */
  readonly isReservation: boolean;
}

/** From a member that has ended, to its group. */
export interface LeaveCommand {
  readonly kind: "leave";
  readonly member: GroupMember;
}

/**
 * From a group to the run of a member. `by`: the run for which the member must end, or that has the place which it
 * asked for.
 */
export interface PlaceCommand {
  readonly kind: "placed" | "superseded" | "placeRefused";
  readonly member: GroupMember;
  readonly by: RunId | null;
}

/** To the timetable of a pipeline, from the caller that changes the definition of the pipeline, and from the worker that has read it. */
export type TriggersCommand =
  | { readonly kind: "triggersChanged"; readonly pipelineId: PipelineId }
  | {
      readonly kind: "triggersRead";
      /** That of the reading which this answers. */
      readonly generation: number;
      /** Null when there is no such pipeline. */
      readonly projectId: ProjectId | null;
      readonly schedules: readonly ScheduleSpec[];
    };

/** To a schedule: from the timetable of its pipeline, and from the worker that has started a run for it. */
export type ScheduleCommand =
  | {
      readonly kind: "define";
      readonly pipelineId: PipelineId;
      readonly projectId: ProjectId;
      /** Larger for a newer definition. */
      readonly generation: number;
      readonly spec: ScheduleSpec;
    }
  | { readonly kind: "withdraw"; readonly generation: number }
  | { readonly kind: "startAnswered"; readonly at: number; readonly outcome: StartOutcome };

/** From a run that a schedule has started, to the schedule. */
export interface RunEndedCommand {
  readonly kind: "runEnded";
  readonly runId: RunId;
}
