/** What the events of a run may be told for: the ends of the run and of its jobs, approvals, and waits that begin. Pure. */
import { gateOfJob } from "../../../actors/approval/state.ts";
import type { RunEvent } from "../../domain/events.ts";
import { type ApprovalId, approvalId, type JobRunId } from "../../domain/ids.ts";
import type { NotificationReason, PlannedNotification, RunPlan } from "../../domain/plan.ts";
import { jobsNamed } from "../../planner/plan-index.ts";

/** Something that has happened, or that may be told later: a wait that lasts. */
export type Occasion =
  | { readonly about: "run"; readonly event: RunEvent; readonly reason: EndReason }
  | { readonly about: "job"; readonly event: RunEvent; readonly reason: EndReason; readonly job: JobPlace }
  | { readonly about: "approval"; readonly event: RunEvent; readonly approvalId: ApprovalId }
  | { readonly about: "wait"; readonly event: RunEvent; readonly wait: Wait };

export type EndReason = Extract<NotificationReason, "success" | "failure" | "partial" | "cancelled">;

interface JobPlace {
  readonly jobId: JobRunId;
  /** Position in the plan. */
  readonly index: number;
}

/**
 * What is waited for: an approval; a place in a group, by the run (`job` null) or a job; an agent, by a job. All cells of a
 * matrix wait together.
 */
export type Wait =
  | { readonly for: "approval"; readonly approvalId: ApprovalId }
  | { readonly for: "concurrency"; readonly job: JobPlace | null; readonly group: string }
  | { readonly for: "agent"; readonly job: JobPlace };

const END_REASONS: Readonly<Record<string, EndReason>> = {
  success: "success",
  failed: "failure",
  partial: "partial",
  cancelled: "cancelled",
};
const ENDS = ["completed", "failed", "cancelled"];

/** None for an event that is not told. */
export function occasionsOf(event: RunEvent): readonly Occasion[] {
  const { object, lifecycle, status, data, jobId } = event;
  if (object === "pipeline") {
    const reason = ENDS.includes(lifecycle) ? END_REASONS[status] : undefined;
    if (reason !== undefined) return [{ about: "run", event, reason }];
    if (lifecycle !== "waiting" || data["waitingFor"] !== "concurrency") return [];
    return [{ about: "wait", event, wait: { for: "concurrency", job: null, group: String(data["text"]) } }];
  }
  if (object === "approval") {
    if (lifecycle !== "requested") return [];
    const id = data["approvalId"] as ApprovalId;
    return [
      { about: "approval", event, approvalId: id },
      { about: "wait", event, wait: { for: "approval", approvalId: id } },
    ];
  }
  if (object !== "job" || jobId === null) return [];
  const job = { jobId, index: Number(data["index"]) };
  const reason = ENDS.includes(lifecycle) ? END_REASONS[status] : undefined;
  if (reason !== undefined) return [{ about: "job", event, reason, job }];
  if (lifecycle === "queued") return [{ about: "wait", event, wait: { for: "agent", job } }];
  if (lifecycle !== "waiting" || data["waitingFor"] !== "concurrency") return [];
  return [{ about: "wait", event, wait: { for: "concurrency", job, group: String(data["text"]) } }];
}

/** Whether the notification is about the run, the job or the approval to which this happened. A notification of the run is about its waits and approvals, too. */
export function isAbout({ job }: Pick<PlannedNotification, "job">, occasion: Occasion, plan: RunPlan): boolean {
  switch (occasion.about) {
    case "run":
      return job === null;
    case "job":
      return job === plan.jobs[occasion.job.index]?.baseName;
    case "approval":
      return job === null || isGateOf(job, occasion.approvalId, occasion.event, plan);
    case "wait": {
      const { wait } = occasion;
      if (job === null) return true;
      if (wait.for === "approval") return isGateOf(job, wait.approvalId, occasion.event, plan);
      return wait.job !== null && job === plan.jobs[wait.job.index]?.baseName;
    }
  }
}

function isGateOf(job: string, id: ApprovalId, { runId }: RunEvent, plan: RunPlan): boolean {
  const [first] = jobsNamed(job, plan);
  return first !== undefined && approvalId(runId, gateOfJob(first, plan)) === id;
}

/**
 * Why the notification is sent; undefined when it is not. `isFixed`: the run has succeeded, and the one before it had failed. A notification
 * for `fixed` and `success` is sent once.
 */
export function reasonToSend(
  { on }: Pick<PlannedNotification, "on">,
  occasion: Occasion,
  isFixed: boolean,
): NotificationReason | undefined {
  if (occasion.about === "approval") return on.find((reason) => reason === "approval");
  if (occasion.about === "wait") return on.find((reason) => reason === "waiting");
  if (isFixed && occasion.about === "run" && on.includes("fixed")) return "fixed";
  return on.find((reason) => reason === occasion.reason);
}

/** What tells a wait from the other waits of its run. */
export function waitKey(wait: Wait, plan: RunPlan, attempt: number): string {
  if (wait.for === "approval") return `approval ${wait.approvalId}`;
  if (wait.job === null) return wait.for;
  return `${wait.for} ${plan.jobs[wait.job.index]!.baseName} ${attempt}`;
}
