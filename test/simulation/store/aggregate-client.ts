/**
 * The store of aggregates over the simulated store, with the calls of the MongoDB adapter in the same order: one update
 * for a save, then the projections and events, and a load that repairs the projections of the newest version.
 */
import type { AgentId, GroupId, JobRunId, PipelineId, RootId, RunId, StepRunId } from "../../../src/domain/ids.ts";
import { FINAL_RUN_STATUSES } from "../../../src/domain/status.ts";
import { owedBesideEvents } from "../../../src/stores/format/owed-beside-events.ts";
import {
  type Aggregate,
  type AggregateHead,
  type AggregateStore,
  GROUP_IDS,
  type JobLocation,
  NO_PIPELINE,
  type StepLocation,
  type StoredActor,
} from "../../../src/stores/ports/aggregates.ts";
import { MAX_COUNTED, type PageRequest } from "../../../src/stores/ports/pages.ts";
import { jobsOf } from "../../../src/stores/ports/jobs-of.ts";
import type { Call } from "../engine/service.ts";
import { compare } from "./compare.ts";
import type { Document, Row, RowKind, StoreServer } from "./store-server.ts";

const RANK = { run: 0, job: 1, step: 2, approval: 3, group: 4, schedule: 5, timetable: 6 } as const;
const ROW_KINDS: readonly RowKind[] = ["job", "step", "approval"];

export function aggregatesOf(server: StoreServer, call: Call): AggregateStore {
  const writeRows = async (head: AggregateHead<RootId>, actors: readonly StoredActor[]): Promise<void> => {
    for (const kind of ROW_KINDS) {
      const ofKind = actors.filter((actor) => actor.kind === kind);
      if (ofKind.length === 0) continue;
      await call(`rows of ${kind} v${head.version} ${head.rootId}`, () => server.writeRows(kind, head, ofKind));
    }
  };
  const insertEvents = async (events: Parameters<StoreServer["insertEvents"]>[0]): Promise<void> => {
    if (events.length > 0) await call(`events ${events[0]!.runId}`, () => server.insertEvents(events));
  };
  const repair = async ({ head, actors, changed }: Document): Promise<void> => {
    const current = new Set<string>();
    for (const kind of ROW_KINDS) {
      const ids = changed.filter((id) => actors.get(id)?.kind === kind);
      if (ids.length === 0) continue;
      const rows = server.rows[kind];
      const found = await call("read rows", () => ids.filter((id) => (rows.get(id)?.version ?? 0) >= head.version));
      for (const id of found) current.add(id);
    }
    await writeRows(
      head,
      changed.filter((id) => !current.has(id)).map((id) => actors.get(id)!),
    );
  };
  const documents = (what: string, matches: (document: Document) => boolean): Promise<readonly Document[]> =>
    call(what, () => [...server.documents.values()].filter(matches));

  return {
    savesEventsAtOnce: server.savesEventsAtOnce,
    createsAtOnce: server.savesEventsAtOnce ? Infinity : 0,
    seesDeletions: false,
    keepsEndedApart: !server.savesEventsAtOnce,
    takesPushedEvents: true,
    async create(aggregate, { plan, events = [] } = {}) {
      const { head, actors } = aggregate;
      const runId = head.rootId as RunId;
      if (plan !== undefined) {
        await call(`plan ${runId}`, () => {
          if (!server.plans.has(runId)) server.plans.set(runId, { plan: plan.graph, jobs: plan.jobs });
        });
      }
      const atOnce = server.savesEventsAtOnce;
      const owed = atOnce ? owedBesideEvents(head.owed, events) : head.owed;
      const insert = (): boolean => {
        const isNew = server.insert({ ...aggregate, head: { ...head, owed } });
        if (isNew && atOnce) server.insertEvents(events);
        return isNew;
      };
      if (!(await call(`create ${runId}`, insert))) return "exists";
      await Promise.all([writeRows(head, actors), atOnce ? undefined : insertEvents(events)]);
      return "created";
    },
    loadInPieces(rootId) {
      return this.load(rootId);
    },
    async loadSmall(runIds, atMost) {
      const found = await Promise.all(runIds.map((runId) => this.load(runId)));
      return found.filter((one) => one !== undefined && one.actors.length <= atMost) as readonly Aggregate[];
    },
    async loadJobs(runId, choose) {
      const aggregate = await this.load(runId);
      return aggregate && jobsOf(aggregate, choose);
    },
    async sizeOf(rootId, atMost) {
      const document = await call(`size ${rootId}`, () => server.documents.get(rootId));
      return document && { version: document.head.version, actors: Math.min(document.actors.size, atMost) };
    },
    async load<Root extends RootId>(rootId: Root) {
      const document = await call(`load ${rootId}`, () => server.documents.get(rootId));
      if (document === undefined) return undefined;
      await repair(document);
      const hasEnded = server.endedOf(document).length > 0;
      const ended = hasEnded ? await call(`ended attempts of ${rootId}`, () => server.endedOf(document)) : [];
      const actors = [...document.actors.values(), ...ended].toSorted(inOrder);
      return { head: document.head as AggregateHead<Root>, actors, apart: ended.map(({ id }) => id) };
    },
    loadHead: (rootId) => call(`head ${rootId}`, () => server.documents.get(rootId)?.head as AggregateHead | undefined),
    loadActors: (rootId, ids) =>
      call(`actors of ${rootId}`, () => {
        const document = server.documents.get(rootId);
        if (document === undefined) return undefined;
        const ended = new Map(server.endedOf(document).map((actor) => [actor.id, actor]));
        const actors = ids.flatMap((id) => document.actors.get(id) ?? ended.get(id) ?? []);
        return { head: document.head as AggregateHead, actors } satisfies Aggregate;
      }),
    async save({ events, ...change }) {
      const { head, changed, ended = [], expectedVersion } = change;
      if (ended.length > 0) {
        await call(`ended attempts of ${head.rootId}`, () => server.insertEnded(head.rootId, expectedVersion, ended));
      }
      const update = (): boolean => {
        const owed = server.savesEventsAtOnce ? owedBesideEvents(head.owed, events) : head.owed;
        const isSaved = server.update({ ...change, head: { ...head, owed } });
        if (isSaved && server.savesEventsAtOnce) server.insertEvents(events);
        return isSaved;
      };
      if (!(await call(`save v${head.version} ${head.rootId}`, update))) return "versionConflict";
      await Promise.all([writeRows(head, changed), server.savesEventsAtOnce ? undefined : insertEvents(events)]);
      return "saved";
    },

    async pageOwing(shard, after, limit) {
      return ids(await documents("owing", ({ head }) => head.shard === shard && head.owed.length > 0), after, limit);
    },
    async pageDue(shard, dueAt, after, limit) {
      const due = await documents("due", ({ head }) => {
        return head.shard === shard && head.nextDueAt !== null && head.nextDueAt <= dueAt;
      });
      return due
        .map(({ head }) => ({ rootId: head.rootId, nextDueAt: head.nextDueAt! }))
        .toSorted((a, b) => a.nextDueAt - b.nextDueAt || compare(a.rootId, b.rootId))
        .filter((one) => {
          if (after === null || one.nextDueAt > after.nextDueAt) return true;
          return one.nextDueAt === after.nextDueAt && one.rootId > after.rootId;
        })
        .slice(0, limit);
    },
    async pageUnsettled(shard, bound, after, limit) {
      const found = await documents("unsettled", ({ head }) => {
        return head.shard === shard && !head.settled && head.summary.bound === bound;
      });
      return ids(found, after, limit);
    },
    async pageLiveGroups(shards, after, limit) {
      const found = await documents("live groups", ({ head }) => {
        return shards.includes(head.shard) && !head.settled && head.rootId.startsWith(GROUP_IDS.from);
      });
      return ids(found, after, limit) as readonly GroupId[];
    },
    pageBoundJobs: (shard, after, limit) =>
      call("bound jobs", () => jobsAfter(server, after, limit, (row) => isBound(row) && row.shard === shard)),
    pageQueuedJobs: (shard, after, limit) =>
      call("queued jobs", () => jobsAfter(server, after, limit, (row) => isQueued(row) && row.shard === shard)),

    stepsHeldBy: (agentId) => call(`steps of ${agentId}`, () => server.rowsOf("step", heldBy(agentId)).map(toStep)),
    jobsHeldBy: (agentId, limit) =>
      call(`jobs of ${agentId}`, () => server.rowsOf("job", heldBy(agentId)).map(toJob).slice(0, limit)),
    findStep: (id) => call(`step ${id}`, () => found(server.rows.step.get(id), toStep)),
    findDurableStep: (id) => call(`durable step ${id}`, () => found(server.rows.step.get(id), toStep)),
    findJob: (id) => call(`job ${id}`, () => found(server.rows.job.get(id), toJob)),

    async listRuns({ pipelineId, projectId, status }, page) {
      const runs = await documents("runs", ({ head: { summary } }) => {
        if (pipelineId === undefined ? summary.pipelineId === NO_PIPELINE : summary.pipelineId !== pipelineId) {
          return false;
        }
        return (projectId ?? summary.projectId) === summary.projectId && (status ?? summary.status) === summary.status;
      });
      const heads = runs.map(({ head }) => head as AggregateHead);
      const keyOf = ({ rootId, summary }: AggregateHead) => [summary.createdAt, rootId] as const;
      const { after, descending } = page;
      const isBehind = ([at, id]: readonly [number, string]) => {
        if (after === undefined) return true;
        const [earlier, later] = descending ? [{ at, id }, after] : [after, { at, id }];
        return earlier.at < later.at || (earlier.at === later.at && earlier.id < later.id);
      };
      const { list } = pageOf(
        heads.filter((head) => isBehind(keyOf(head))),
        after === undefined ? page : { ...page, page: 1 },
        keyOf,
      );
      return { list, total: Math.min(heads.length, MAX_COUNTED), totalIsExact: heads.length <= MAX_COUNTED };
    },
    async listApprovals({ status, pipelineId, projectId }, page) {
      const rows = await call("approvals", () =>
        server.rowsOf("approval", ({ actor: { index } }) => {
          const approval = index.approval!;
          if (index.status !== status || (pipelineId ?? approval.pipelineId) !== approval.pipelineId) return false;
          return (projectId ?? approval.projectId) === approval.projectId;
        }),
      );
      const located = rows.map(({ rootId, actor }) => ({ runId: rootId as RunId, actor }));
      return pageOf(located, page, ({ actor }) => [actor.index.approval!.requestedAt, actor.id]);
    },
    async findRuns({ pipelineId, projectIds, statuses, triggeredBy, ref, trigger, from, before }, { limit, after }) {
      const runs = await documents("found runs", ({ head: { rootId, summary, origin } }) => {
        const { createdAt: at } = summary;
        if (pipelineId === undefined ? summary.pipelineId === NO_PIPELINE : summary.pipelineId !== pipelineId) {
          return false;
        }
        if (after !== undefined && (at > after.at || (at === after.at && rootId >= after.id))) return false;
        return (
          (projectIds?.includes(summary.projectId) ?? true) &&
          (statuses?.includes(summary.status) ?? true) &&
          (triggeredBy ?? origin.triggeredBy) === origin.triggeredBy &&
          (ref ?? origin.trigger.ref) === origin.trigger.ref &&
          (trigger ?? origin.trigger.kind) === origin.trigger.kind &&
          at >= (from ?? at) &&
          (before === undefined || at < before)
        );
      });
      const found = runs.map(({ head }) => head as AggregateHead).toSorted((a, b) => byCreation(b, a));
      const last = found.length > limit ? found[limit - 1] : undefined;
      const next = last === undefined ? null : { at: last.summary.createdAt, id: last.rootId };
      return { list: found.slice(0, limit), next };
    },
    async newestRuns(pipelineIds, limit) {
      const runs = await documents("newest runs", ({ head }) => pipelineIds.includes(head.summary.pipelineId));
      const sorted = runs.map(({ head }) => head as AggregateHead).toSorted((a, b) => byCreation(b, a));
      const of = (id: PipelineId) => sorted.filter(({ summary }) => summary.pipelineId === id).slice(0, limit);
      return new Map(pipelineIds.map((id) => [id, of(id)] as const).filter(([, heads]) => heads.length > 0));
    },
    async liveRuns(pipelineId, limit) {
      const runs = await documents("live runs", ({ head: { summary } }) => {
        return summary.pipelineId === pipelineId && !FINAL_RUN_STATUSES.includes(summary.status);
      });
      const sorted = runs.map(({ head }) => head as AggregateHead).toSorted(byCreation);
      return sorted.slice(0, limit).map(({ rootId }) => rootId);
    },
  };
}

/** The order in which the adapter loads actors. */
export function inOrder(a: StoredActor, b: StoredActor): number {
  return (
    RANK[a.kind] - RANK[b.kind] ||
    compare(a.index.jobId ?? "", b.index.jobId ?? "") ||
    a.index.position - b.index.position ||
    a.index.attempt - b.index.attempt
  );
}

function ids(documents: readonly Document[], after: string, limit: number): readonly RootId[] {
  const found = documents.map(({ head }) => head.rootId).filter((id) => id > after);
  return found.toSorted(compare).slice(0, limit);
}

function jobsAfter(
  server: StoreServer,
  after: string,
  limit: number,
  matches: (row: Row) => boolean,
): readonly JobLocation[] {
  const rows = server.rowsOf("job", (row) => matches(row) && row.actor.id > after);
  return rows.slice(0, limit).map(toJob);
}

const isBound = ({ actor }: Row): boolean => actor.index.agentId !== null;
const isQueued = ({ actor }: Row): boolean => actor.index.status === "queued";
const heldBy =
  (agentId: AgentId) =>
  ({ actor }: Row): boolean =>
    actor.index.agentId === agentId;

function found<T>(row: Row | undefined, as: (row: Row) => T): T | undefined {
  return row === undefined ? undefined : as(row);
}

function toJob({ rootId, actor }: Row): JobLocation {
  return { runId: rootId as RunId, jobId: actor.id as JobRunId, actor };
}

function toStep({ rootId, actor }: Row): StepLocation {
  return { runId: rootId as RunId, jobId: actor.index.jobId!, stepRunId: actor.id as StepRunId, actor };
}

function byCreation(a: AggregateHead, b: AggregateHead): number {
  return a.summary.createdAt - b.summary.createdAt || compare(a.rootId, b.rootId);
}

function pageOf<T>(
  all: readonly T[],
  { page, pageSize, descending }: PageRequest,
  keyOf: (one: T) => readonly [number, string],
): { readonly list: readonly T[]; readonly total: number } {
  const sorted = all.toSorted((one, other) => {
    const [a, b] = [keyOf(one), keyOf(other)];
    return (a[0] - b[0] || compare(a[1], b[1])) * (descending ? -1 : 1);
  });
  return { list: sorted.slice((page - 1) * pageSize, page * pageSize), total: all.length };
}
