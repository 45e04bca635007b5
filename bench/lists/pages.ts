/** The pages of lists and searches that the benchmark asks a store for. */
import { asId, DEFAULT_TENANT, type ProjectId, type RunId } from "../../src/domain/ids.ts";
import type { ApprovalFilter, RunFilter, RunPageRequest, RunSearch } from "../../src/stores/ports/aggregates.ts";
import type { AuditFilter } from "../../src/stores/ports/audit.ts";
import { type ListKey, type ListPlace, MAX_PASSED, type PlacedPageRequest } from "../../src/stores/ports/pages.ts";
import type { PipelineFilter } from "../../src/stores/ports/pipelines.ts";
import { FIRST_AT, type FilledStore } from "./filled-store.ts";

const PAGE_SIZE = 100;

export interface Page {
  readonly name: string;
  readonly read: () => Promise<unknown>;
  /** Passes more items than a store of few has: it may cost more in a store of many. */
  readonly passesMany?: boolean;
}

/** The same pages, in the same order, for each store. */
export function pagesOf(store: FilledStore): readonly Page[] {
  return [...runsOfPipeline(store), ...searches(store), ...otherLists(store)];
}

function middleOf({ runs }: FilledStore): ListKey {
  return { at: FIRST_AT + Math.floor(runs / 2) * 1_000, id: "run_" };
}

function runsOfPipeline(store: FilledStore): readonly Page[] {
  const { pipelineId } = store;
  const { aggregates } = store.stores;
  const page = { page: 1, pageSize: PAGE_SIZE, descending: true };
  const middle = middleOf(store);
  const list = (name: string, filter: Omit<RunFilter, "pipelineId">, request: RunPageRequest, passesMany = false) => ({
    name,
    read: () => aggregates.listRuns({ pipelineId, ...filter }, request),
    passesMany,
  });
  return [
    list("the first page", {}, page),
    list("the first page, oldest first", {}, { ...page, descending: false }),
    list("a page in the middle, by `after`", {}, { ...page, after: middle }),
    list("the last page, by `after`", {}, { ...page, after: { at: FIRST_AT + 100_000, id: "run_" } }),
    list("a frequent status", { status: "success" }, page),
    list("a frequent status, in the middle", { status: "success" }, { ...page, after: middle }),
    list("a rare status", { status: "failed" }, page),
    list("page 100", {}, { ...page, page: 100 }),
    list("the deepest page, by `page`", {}, { ...page, page: MAX_PASSED / page.pageSize + 1 }, true),
    list("a page that is too deep", {}, { ...page, page: MAX_PASSED / page.pageSize + 2 }),
    { name: "the newest runs of 100 pipelines", read: () => aggregates.newestRuns(Array(100).fill(pipelineId), 5) },
  ];
}

function searches(store: FilledStore): readonly Page[] {
  const { aggregates } = store.stores;
  const middle = middleOf(store);
  const hour = { from: middle.at, before: middle.at + 3_600_000 };
  const search = (name: string, what: RunSearch, after?: ListKey, passesMany = false) => ({
    name: `search: ${name}`,
    read: () => aggregates.findRuns(what, { limit: PAGE_SIZE, after }),
    passesMany,
  });
  return [
    search("runs of all pipelines", {}),
    search("of one project, in the middle", { projectIds: projects(1) }, middle),
    search("of two projects and three statuses", {
      projectIds: projects(2),
      statuses: ["failed", "running", "paused"],
    }),
    search("a rare status and a frequent one", { statuses: ["failed", "success"] }),
    search("by a user who has triggered few", { triggeredBy: "rare" }),
    search("by a user who has triggered most", { triggeredBy: "frequent" }, middle),
    search("of a rare ref", { ref: "rare" }),
    search("of a ref, and by a user, who have nothing in common", { ref: "main", triggeredBy: "rare" }),
    search("of a frequent ref and a trigger that no run has", { ref: "main", trigger: "event" }, undefined, true),
    search("of a trigger that no run has", { trigger: "event" }),
    search("of an hour", hour),
    search("of twenty projects, by an hour", { ...hour, projectIds: projects(20) }),
  ];
}

function otherLists(store: FilledStore): readonly Page[] {
  const { pipelineId, lane, hookId } = store;
  const { aggregates, audit, deliveries, hooks, pipelines, uploads } = store.stores;
  const middle = middleOf(store);
  const page = { page: 1, pageSize: PAGE_SIZE, descending: true };
  const [projectId] = projects(1) as [ProjectId];
  const approvals = (name: string, filter: Omit<ApprovalFilter, "status">, request: PlacedPageRequest = page) => ({
    name: `approvals: ${name}`,
    read: () => aggregates.listApprovals({ ...filter, status: "pending" }, request),
  });
  const entries = (name: string, filter: AuditFilter, after?: ListKey) => ({
    name: `audit: ${name}`,
    read: () => audit.page(filter, { limit: PAGE_SIZE, descending: true, after }),
  });
  const ofPipelines = (name: string, filter: PipelineFilter, sort: "createdAt" | "name", after?: ListPlace) => ({
    name: `pipelines: ${name}`,
    read: () => pipelines.list(filter, { ...page, sort, after }),
  });
  const sent = (name: string, filter: Parameters<typeof deliveries.list>[1], after?: ListKey) => ({
    name: `deliveries: ${name}`,
    read: () => deliveries.list(lane, filter, PAGE_SIZE, after),
  });
  const received = (name: string, filter: Parameters<typeof hooks.listDeliveries>[1], after?: ListKey) => ({
    name: `deliveries of a hook: ${name}`,
    read: () => hooks.listDeliveries(hookId, filter, PAGE_SIZE, after),
  });
  return [
    approvals("the pending ones", {}),
    approvals("of a pipeline, in the middle", { pipelineId }, { ...page, after: middle }),
    approvals("of a project, in the middle", { projectId }, { ...page, after: middle }),
    approvals("of twenty projects", { projectIds: projects(20) }),
    entries("the newest entries", { area: "installation" }),
    entries("of a tenant, in the middle", { area: { tenantId: DEFAULT_TENANT } }, middle),
    entries("of an operation", { area: "installation", operation: "bench" }, middle),
    entries("refused calls, which there are none of", { area: "installation", outcome: "refused" }),
    { name: "uploads: the newest", read: () => uploads.list(projectId, PAGE_SIZE, undefined) },
    { name: "uploads: in the middle", read: () => uploads.list(projectId, PAGE_SIZE, middle) },
    sent("the newest", {}),
    sent("in the middle", {}, middle),
    sent("a rare state", { state: "failed" }, middle),
    sent("about one run", { runId: asId<RunId>("run_none") }),
    received("the newest", {}),
    received("a rare state", { state: "failed" }, middle),
    ofPipelines("by name", {}, "name"),
    ofPipelines("of a project, in the middle", { projectIds: projects(1) }, "createdAt", middle),
    ofPipelines("with a part of the name", { name: "99" }, "createdAt"),
  ];
}

/** The project of all rows, and others, which have none. */
function projects(count: number): readonly ProjectId[] {
  return Array.from({ length: count }, (_, at) => asId<ProjectId>(at === 0 ? "default" : `prj_${at}`));
}
