/**
 * The approval that a run of a fork waits for before it begins. A run builds one commit for good, so its approval is of that
 * commit: new commits come with runs of their own.
 */
import { approvalId } from "../../domain/ids.ts";
import type { ApprovalState } from "../../../actors/approval/state.ts";
import type { EndedRun } from "../../../actors/run/rerun.ts";
import type { PlannedApproval } from "../../domain/plan.ts";
import { approvalOfFork } from "../../planner/plan-gates.ts";
import { isUntrusted, type AggregateHead, type RunOrigin, type RunSearch } from "../../stores/ports/aggregates.ts";
import type { Pipeline } from "../../stores/ports/pipelines.ts";
import { projectFactsOf } from "../project-facts.ts";
import type { TriggeringContext } from "./context.ts";
import type { ToldEvent } from "./told-event.ts";

/** Earlier runs that are looked at for an approval. */
const LOOKED_AT = 20;

interface ForkRun {
  readonly pipeline: Pipeline;
  readonly origin: RunOrigin;
  readonly told: ToldEvent;
}

/** Undefined for a run that waits for none: it is of no fork, its commit was approved before, or the project asks for none. */
export async function forkApproval(
  context: Pick<TriggeringContext, "stores" | "clock">,
  { pipeline: { pipelineId, projectId }, origin, told }: ForkRun,
): Promise<PlannedApproval | undefined> {
  if (!isUntrusted(origin)) return undefined;
  const { forks } = await projectFactsOf(context, projectId);
  if (forks === "never") return undefined;
  const sha = shaOf(origin);
  const isSame = ({ summary, origin: other }: AggregateHead) => {
    return summary.pipelineId === pipelineId && shaOf(other) === sha;
  };
  if (sha !== "" && (await wasApproved(context, { ref: origin.trigger.ref }, isSame))) return undefined;
  if (forks === "firstTime" && (await areKnown(context, projectId, origin, told))) return undefined;
  return approvalOfFork(messageFor(origin, told));
}

/** The approval that a rerun waits for: that of the run before, unless it was given. */
export function approvalAgain({ runId, plan, state }: EndedRun): PlannedApproval | undefined {
  const before = state(approvalId(runId, { run: true })) as ApprovalState | undefined;
  return before?.state === "approved" ? undefined : plan.approval;
}

/** What a run builds; empty where the sender has named no commit. */
function shaOf({ trigger: { event }, commitSha, revisionId }: RunOrigin): string {
  return commitSha === revisionId ? (event?.sha ?? "") : commitSha;
}

/**
 * True when who has opened the pull request and who has done this are people of whom a run was approved before. A person is
 * known by login and id: another user may have taken the login of one who has left it.
 */
async function areKnown(
  context: Pick<TriggeringContext, "stores">,
  projectId: Pipeline["projectId"],
  { triggeredBy }: RunOrigin,
  { fields: { author, authorId, actorId } }: ToldEvent,
): Promise<boolean> {
  if (typeof author !== "string" || author === "") return false;
  const [kind] = triggeredBy.split(":", 1);
  const people = [
    { name: triggeredBy, id: actorId },
    { name: `${kind}:${author}`, id: authorId },
  ];
  for (const { name, id } of people) {
    const isSame = async ({ origin }: AggregateHead) => (await actorIdOf(context, origin)) === id;
    if (!(await wasApproved(context, { projectIds: [projectId], triggeredBy: name }, isSame))) return false;
  }
  return true;
}

/** Empty where the sender has not told it, or an earlier version has read the delivery. */
async function actorIdOf(
  { stores }: Pick<TriggeringContext, "stores">,
  { trigger: { event } }: RunOrigin,
): Promise<string> {
  const delivery = event && (await stores.hooks.findDelivery(event.deliveryId));
  return delivery?.events[event!.index]?.actorId ?? "";
}

async function wasApproved(
  { stores }: Pick<TriggeringContext, "stores">,
  search: RunSearch,
  isMeant: (head: AggregateHead) => boolean | Promise<boolean>,
): Promise<boolean> {
  const { list } = await stores.aggregates.findRuns({ ...search, trigger: "event" }, { limit: LOOKED_AT });
  for (const head of list) {
    if (!isUntrusted(head.origin) || !(await isMeant(head))) continue;
    const id = approvalId(head.rootId, { run: true });
    const approval = (await stores.aggregates.loadActors(head.rootId, [id]))?.actors.find((actor) => actor.id === id);
    if ((approval?.state as ApprovalState | undefined)?.state === "approved") return true;
  }
  return false;
}

function messageFor(origin: RunOrigin, { fields: { number } }: ToldEvent): string {
  const named = typeof number === "number" ? `Pull request ${number}` : "This run";
  const sha = shaOf(origin);
  const commit = sha === "" ? "what its ref holds" : `commit ${sha}`;
  return `${named}, by ${origin.triggeredBy}, comes from a fork. Once it is approved, ${commit} runs on your agents: look at its changes first.`;
}
