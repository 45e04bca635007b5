/** Searches for runs in MongoDB. Each search names the index that it reads, and fails without that index. */
import type { Collection, Filter, IndexSpecification } from "mongodb";
import { NO_PIPELINE, type RunSearch, type RunSearchPage, type RunSearchPlace } from "../../ports/aggregates.ts";
import type { ListKey } from "../../ports/pages.ts";
import { type AggregateDocument, HEAD_FIELDS, type HeadDocument, toHead } from "./aggregate-documents.ts";
import { behind } from "./list-place.ts";

const NEWEST = { "summary.createdAt": 1, _id: 1 } as const;
/** The head without what it owes, which no list shows. */
const { owed: _owed, ...LISTED } = HEAD_FIELDS;
/** The indexes of searches. */
const INDEXES = {
  user: { "origin.triggeredBy": 1, ...NEWEST },
  pipelineStatus: { "summary.pipelineId": 1, "summary.status": 1, ...NEWEST },
  pipeline: { "summary.pipelineId": 1, ...NEWEST, "summary.status": 1 },
  ref: { "origin.trigger.ref": 1, ...NEWEST },
  projectStatus: { "summary.projectId": 1, "summary.status": 1, ...NEWEST },
  project: { "summary.projectId": 1, ...NEWEST },
  status: { "summary.status": 1, ...NEWEST },
  trigger: { "origin.trigger.kind": 1, ...NEWEST },
  time: { ...NEWEST, "summary.projectId": 1, "summary.status": 1 },
} as const satisfies Record<string, IndexSpecification>;

export async function findRuns(
  aggregates: Collection<AggregateDocument>,
  search: RunSearch,
  { limit, after }: RunSearchPlace,
): Promise<RunSearchPage> {
  const found = await aggregates
    .find<HeadDocument>(queryOf(search, after), { projection: LISTED })
    .hint(indexOf(search))
    .sort({ "summary.createdAt": -1, _id: -1 })
    .limit(limit + 1)
    .toArray();
  const list = found.slice(0, limit).map((document) => toHead({ ...document, owed: [] }));
  const last = found.length > limit ? list.at(-1) : undefined;
  return { list, next: last === undefined ? null : { at: last.summary.createdAt, id: last.rootId } };
}

/** The index for a search, by what excludes most. */
export function indexOf({
  triggeredBy,
  pipelineId,
  statuses,
  ref,
  projectIds,
  trigger,
}: RunSearch): IndexSpecification {
  if (triggeredBy !== undefined) return INDEXES.user;
  if (pipelineId !== undefined) return statuses === undefined ? INDEXES.pipeline : INDEXES.pipelineStatus;
  if (ref !== undefined) return INDEXES.ref;
  if (projectIds !== undefined) return statuses === undefined ? INDEXES.project : INDEXES.projectStatus;
  if (statuses !== undefined) return INDEXES.status;
  return trigger === undefined ? INDEXES.time : INDEXES.trigger;
}

function queryOf(search: RunSearch, after: ListKey | undefined): Filter<AggregateDocument> {
  const { pipelineId, projectIds, statuses, triggeredBy, ref, trigger, from, before } = search;
  const time = { ...(from !== undefined && { $gte: from }), ...(before !== undefined && { $lt: before }) };
  const conditions: Filter<AggregateDocument>[] = [
    { "summary.pipelineId": pipelineId ?? { $ne: NO_PIPELINE } },
    ...(projectIds === undefined ? [] : [{ "summary.projectId": { $in: [...projectIds] } }]),
    ...(statuses === undefined ? [] : [{ "summary.status": { $in: [...statuses] } }]),
    ...(triggeredBy === undefined ? [] : [{ "origin.triggeredBy": triggeredBy }]),
    ...(ref === undefined ? [] : [{ "origin.trigger.ref": ref }]),
    ...(trigger === undefined ? [] : [{ "origin.trigger.kind": trigger }]),
    ...(from === undefined && before === undefined ? [] : [{ "summary.createdAt": time }]),
    ...(after === undefined ? [] : [behind(after, true)]),
  ];
  return { $and: conditions };
}
