/**
 * The deletion of a project with everything in it. It is noted before anything is deleted: from then on no caller finds
 * the project, and the workers remove what it owns, a piece at a time.
 */
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { DEFAULT_PROJECT, type ProjectId, type RunId } from "../../domain/ids.ts";
import { FINAL_RUN_STATUSES, RUN_STATUS_CODES, type RunStatus } from "../../domain/status.ts";
import type { AggregateHead } from "../../stores/ports/aggregates.ts";
import type { ListKey } from "../../stores/ports/pages.ts";
import { ownerOf } from "../../stores/ports/documents.ts";
import type { Project } from "../../stores/ports/pipelines.ts";
import { forgetAreasBeingDeleted } from "../areas-being-deleted.ts";
import { deletePluginsOf } from "../catalogue/plugins.ts";
import { deleteCacheNow } from "../content/cache-pruner.ts";
import { dropDeliveries } from "../hooks/drop-deliveries.ts";
import { deleteUploadNow } from "../content/upload-pruner.ts";
import type { Caller } from "../identity/access.ts";
import { forgetProjectFacts } from "../project-facts.ts";
import type { WithPrecondition } from "../preconditions.ts";
import { type ProjectView, projectView } from "../project-record.ts";
import { reachProject } from "../reaching.ts";
import { removeRun } from "../runs/remove-run.ts";
import { sealSuccession } from "../runs/succession.ts";
import type { DeletionContext } from "./context.ts";

/** Things of one kind that one call of {@link emptyProject} removes. */
const AT_ONCE = 100;
/** Runs that are removed at the same time: they share the disk syncs of SQLite, and the round trips to MongoDB. */
const RUNS_AT_ONCE = 10;

const LIVE_STATUSES = (Object.keys(RUN_STATUS_CODES) as RunStatus[]).filter((one) => !FINAL_RUN_STATUSES.includes(one));

/**
 * Deletes a project with everything in it; entries of the audit log stay. Throws `not_found`; `conflict` for the default
 * project, and without `force` while a run of the project is live. `force` stops the live runs, and so is a run stopped
 * that begins at the same moment.
 */
export async function deleteProject(
  context: DeletionContext,
  caller: Caller,
  {
    projectId,
    force,
    match,
  }: { readonly projectId: ProjectId; readonly force: boolean } & WithPrecondition<ProjectView>,
): Promise<void> {
  const { user, found: project } = await reachProject(context, caller, "deleteProjects", projectId);
  match?.(projectView(project));
  if (projectId === DEFAULT_PROJECT) {
    const text = `the project ${DEFAULT_PROJECT} cannot be deleted: pipelines without a project are in it`;
    throw new MillraceError("conflict", text);
  }
  const live = force ? undefined : await findLiveRun(context, projectId);
  if (live !== undefined) {
    throw new MillraceError("conflict", `run ${live} of the project is live: stop it, or delete with ?force=true`);
  }
  const { name, description = "" } = project;
  const change = { kind: "project", id: projectId, name, before: { name, description } } as const;
  await recorded(user, change, () => noteProjectDeletion(context, project, user.name));
  await hideProject(context, projectId, user.name);
  context.log.info({ projectId, by: user.name, userId: user.userId }, "a project is deleted");
}

/** The decision: what follows is carried out by the workers as well. `by`: the name of the user who deletes it. */
export async function noteProjectDeletion(
  { stores, clock }: DeletionContext,
  { projectId, name }: Project,
  by: string,
): Promise<void> {
  await stores.rights.deletions.note({ area: { projectId }, name, at: clock.now(), by, emptiedAt: null });
}

/** Removes the record of the project, so that its name is free, and has its pipelines deleted. Idempotent. */
export async function hideProject(context: DeletionContext, projectId: ProjectId, by: string): Promise<void> {
  const { pipelines, pipelineDeletions, rights } = context.stores;
  forgetAreasBeingDeleted(context);
  forgetProjectFacts(context, projectId);
  await pipelines.deleteProject(projectId);
  await rights.unbindAll({ projectId });
  const at = context.clock.now();
  for (let page = 1; ; page++) {
    const request = { page, pageSize: AT_ONCE, sort: "createdAt", descending: false } as const;
    const { list } = await pipelines.list({ projectId }, request);
    for (const { pipelineId } of list) await pipelineDeletions.note({ pipelineId, at, by, decided: true });
    if (list.length < AT_ONCE) return;
  }
}

/**
 * Removes a piece of what a deleted project owns, and says what is left: `more` that the next call removes; `waits` for
 * runs that end, or for pipelines that are deleted elsewhere; or nothing, `empty`. Safe to repeat after a crash.
 */
export async function emptyProject(
  context: DeletionContext,
  projectId: ProjectId,
  by: string,
): Promise<"more" | "waits" | "empty"> {
  const { caches, deliveries, documents, hooks, identity, pipelines, secrets, uploads } = context.stores;
  await hideProject(context, projectId, by);
  await secrets.deleteOfProject(projectId);
  await deletePluginsOf(context, { projectId });
  await documents.deleteOf(ownerOf({ projectId }));
  for (const { userId } of await identity.listOwnedBy({ projectId })) await identity.deleteUser(userId);
  const sent = await uploads.list(projectId, AT_ONCE, undefined);
  for (const { uploadId } of sent.list) await deleteUploadNow(context.stores, uploadId);
  const cached = await caches.list(projectId, "", { page: 1, pageSize: AT_ONCE });
  for (const entry of cached.list) await deleteCacheNow(context.stores, entry);
  const owed = await deliveries.drop({ projectId }, AT_ONCE);
  await hooks.deleteOfProject(projectId);
  const moreReceived = await dropDeliveries(context, { projectId });
  const runs = await removeRuns(context, projectId);
  if (
    runs === "more" ||
    owed === AT_ONCE ||
    moreReceived ||
    sent.list.length === AT_ONCE ||
    cached.list.length === AT_ONCE
  )
    return "more";
  const pipelinesLeft = await pipelines.list(
    { projectId },
    { page: 1, pageSize: 1, sort: "createdAt", descending: false },
  );
  return runs === "waits" || pipelinesLeft.total > 0 ? "waits" : "empty";
}

/** Removes some of the runs that have ended. A run whose rerun is there still goes after the rerun. */
async function removeRuns(context: DeletionContext, projectId: ProjectId): Promise<"more" | "waits" | "empty"> {
  const { aggregates } = context.stores;
  let left = false;
  for (let after: ListKey | undefined; ;) {
    const { list, next } = await aggregates.findRuns({ projectIds: [projectId] }, { limit: AT_ONCE, after });
    const ended = list.filter(({ settled }) => settled);
    let removed = 0;
    for (let first = 0; first < ended.length; first += RUNS_AT_ONCE) {
      const outcomes = await Promise.all(
        ended.slice(first, first + RUNS_AT_ONCE).map((head) => removeUnlessNeeded(context, head)),
      );
      removed += outcomes.filter((isRemoved) => isRemoved).length;
    }
    if (removed > 0) return "more";
    left ||= list.length > 0;
    if (next === null) return left ? "waits" : "empty";
    after = next;
  }
}

async function removeUnlessNeeded(context: DeletionContext, { rootId, origin }: AggregateHead): Promise<boolean> {
  if ((await sealSuccession(context, { rootId, origin })) !== null) return false;
  const aggregate = await context.stores.aggregates.load(rootId);
  if (aggregate !== undefined) await removeRun(context, aggregate);
  return true;
}

async function findLiveRun({ stores }: DeletionContext, projectId: ProjectId): Promise<RunId | undefined> {
  const search = { projectIds: [projectId], statuses: LIVE_STATUSES };
  for (let after: ListKey | undefined; ;) {
    const { list, next } = await stores.aggregates.findRuns(search, { limit: 1, after });
    if (list[0] !== undefined || next === null) return list[0]?.rootId;
    after = next;
  }
}
