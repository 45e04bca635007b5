/** Whether a wait still lasts when its notification is due, as the store has it then. */
import type { ApprovalState } from "../../../actors/approval/state.ts";
import { newestCells } from "../../../actors/job/facts.ts";
import type { JobState } from "../../../actors/job/state.ts";
import type { RunState } from "../../../actors/run/state.ts";
import { isFinalRunStatus } from "../../domain/status.ts";
import type { RunId } from "../../domain/ids.ts";
import type { RunPlan } from "../../domain/plan.ts";
import { jobsNamed } from "../../planner/plan-index.ts";
import { type ActorReader, withActors } from "../../stores/ports/reading-actors.ts";
import { loopShare } from "../loop-share.ts";
import type { NotificationContext } from "./context.ts";
import type { LastingWait } from "./notification-record.ts";
import type { Wait } from "./occasions.ts";

/** A time: the wait has not lasted long enough, and is looked at again then (Unix milliseconds). */
export type Verdict = "lasts" | "over" | number;

export async function verdictOn(
  { stores, clock }: NotificationContext,
  runId: RunId,
  { wait, since, longerThanMs }: LastingWait,
): Promise<Verdict> {
  const head = await stores.aggregates.loadHead(runId);
  if (head === undefined || isFinalRunStatus(head.summary.status)) return "over";
  // While a run is paused, nothing of it waits. After the pause, the wait begins again.
  if (head.summary.status === "paused") return clock.now() + longerThanMs;
  const plan = await stores.plans.loadPlanInPieces(runId, () => loopShare.enter());
  if (plan === undefined) return "over";
  const began = await withActors(stores.aggregates, runId, async (state) => begunAt(wait, since, runId, plan, state));
  if (began === undefined) return "over";
  const dueAt = began + longerThanMs;
  return dueAt <= clock.now() ? "lasts" : dueAt;
}

/** Since when something waits so, of what waits longest; undefined when nothing does. */
function begunAt(wait: Wait, since: number, runId: RunId, plan: RunPlan, state: ActorReader): number | undefined {
  if (wait.for === "approval") {
    const approval = state(wait.approvalId) as ApprovalState | undefined;
    return approval?.state === "pending" ? approval.requestedAt : undefined;
  }
  if (wait.job === null) {
    const run = state(runId) as RunState | undefined;
    return run?.place?.held === false ? since : undefined;
  }
  const { index } = wait.job;
  const cells = jobsNamed(plan.jobs[index]!.baseName, plan).flatMap((at) => newestCells(runId, at, plan, { state }));
  const waiting = cells.filter((job) => isWaiting(job, wait.for));
  if (waiting.length === 0) return undefined;
  if (wait.for === "agent") return Math.min(...waiting.map(({ queuedAt }) => queuedAt ?? since));
  return since;
}

function isWaiting({ state, place, paused }: JobState, what: "agent" | "concurrency"): boolean {
  if (what === "agent") return state === "queued" && !paused;
  return state === "waiting" && place?.held === false;
}
