/** Documents of aggregates, as the port answers them. */
import type { RootId, RunId } from "../../../domain/ids.ts";
import type { Aggregate, AggregateHead, StoredActor } from "../../ports/aggregates.ts";
import type { Contents, PackedFields } from "../packed-snapshots.ts";

export interface HeadDocument extends Omit<AggregateHead, "rootId"> {
  readonly _id: RootId;
  readonly owes: boolean;
}

/**
 * `endedApart`: true once an actor has left the snapshot; absent before. `untold`: true while there may be events that are
 * not told; `told`: the number of the last one that is.
 */
export type AggregateDocument = HeadDocument &
  Contents &
  PackedFields & { readonly endedApart?: boolean; readonly untold?: boolean; readonly told?: number };

const RANK = { run: 0, job: 1, step: 2, approval: 3, group: 4, schedule: 5, timetable: 6 } as const;

/** The fields of the head, for a projection that lists the fields to return. */
export const HEAD_FIELDS = {
  shard: 1,
  schema: 1,
  version: 1,
  final: 1,
  settled: 1,
  eventNumber: 1,
  nextDueAt: 1,
  owed: 1,
  summary: 1,
  origin: 1,
} as const satisfies Record<Exclude<keyof AggregateHead, "rootId">, 1>;

export function toHead<Root extends RootId = RunId>(document: HeadDocument): AggregateHead<Root> {
  const { _id, shard, schema, version, final, settled, eventNumber, nextDueAt, owed, origin } = document;
  // Documents of older versions have no `waits`.
  const summary = { ...document.summary, waits: document.summary.waits ?? null };
  return { rootId: _id as Root, shard, schema, version, final, settled, eventNumber, nextDueAt, owed, summary, origin };
}

/** The aggregate with the actors of its snapshot and, of those that are stored apart, the ones that are not in it. */
export function withEnded<Root extends RootId>(
  head: AggregateHead<Root>,
  actors: Readonly<Record<string, StoredActor>>,
  apart: readonly StoredActor[],
): Aggregate<Root> {
  const ended = apart.filter(({ id }) => actors[id] === undefined);
  const all = [...Object.values(actors), ...ended].toSorted(inOrder);
  return { head, actors: all, ...(ended.length > 0 && { apart: ended.map(({ id }) => id) }) };
}

function inOrder(a: StoredActor, b: StoredActor): number {
  return (
    RANK[a.kind] - RANK[b.kind] ||
    compare(a.index.jobId ?? "", b.index.jobId ?? "") ||
    a.index.position - b.index.position ||
    a.index.attempt - b.index.attempt
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
