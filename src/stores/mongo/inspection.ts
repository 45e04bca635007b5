/** The store of verification in MongoDB: snapshots, and beside them the rows that read-models.ts writes. */
import type { Collection, Document } from "mongodb";
import type { RootId } from "../../domain/ids.ts";
import type { StoredActor } from "../ports/aggregates.ts";
import type { InspectionStore, LookUpRow, RecordKind, RecordOwner } from "../ports/inspection.ts";
import { type AggregateDocument, toHead, withEnded } from "./runs/aggregate-documents.ts";
import type { Connection, Keyed } from "./connection.ts";
import { EndedAttempts } from "./ended-attempts.ts";
import { unpacked } from "./packed-snapshots.ts";
import { readNumbers } from "../format/packed-events.ts";
import { recordsIn } from "./runtime.ts";
import { type Row, toActor } from "./read-models.ts";

interface InspectedDocument extends AggregateDocument {
  readonly eventsGone?: number | null;
}

const ROWS = { job_runs: "job", step_runs: "step", approvals: "approval" } as const;
type RowCollection = keyof typeof ROWS;
/** How many ids one query names. */
const IDS_A_CALL = 500;

export function inspectionStore(connection: Connection): InspectionStore {
  const aggregates = connection.collection<InspectedDocument>("aggregates");
  const ended = new EndedAttempts(connection);
  const rowsOf = (name: RowCollection): Collection<Row> => connection.collection<Row>(name);

  /** The rows of these actors. */
  async function readRows(actors: readonly StoredActor[]): Promise<readonly LookUpRow[]> {
    const found: LookUpRow[] = [];
    for (const [name, kind] of Object.entries(ROWS) as [RowCollection, (typeof ROWS)[RowCollection]][]) {
      const ids = actors.flatMap((actor) => (actor.kind === kind ? [actor.id] : []));
      for (let at = 0; at < ids.length; at += IDS_A_CALL) {
        const page = await rowsOf(name)
          .find({ _id: { $in: ids.slice(at, at + IDS_A_CALL) } })
          .toArray();
        for (const row of page) {
          found.push({ actor: toActor(kind, row), rootId: row.rootId, shard: row.shard, version: row.version });
        }
      }
    }
    return found;
  }

  /** Jumps from one value of an indexed field to the next, because one owner may have many records. */
  async function distinct(
    collection: Collection<Keyed>,
    field: string,
    filter: Document,
    after: string,
    limit: number,
  ): Promise<readonly Keyed[]> {
    const found: Keyed[] = [];
    for (let last = after; found.length < limit;) {
      const next = await collection.findOne(
        { ...filter, [field]: { $gt: last } },
        { sort: { [field]: 1 }, projection: { [field]: 1 } },
      );
      if (next === null) break;
      found.push(next);
      last = next[field] as string;
    }
    return found;
  }

  /** The key of a row begins with its collection, so that one order goes through all three. */
  async function pageRows(after: string, limit: number): Promise<readonly RecordOwner[]> {
    const found: RecordOwner[] = [];
    for (const name of Object.keys(ROWS).toSorted() as RowCollection[]) {
      const start = `${name}/`;
      if (found.length === limit || after > `${start}\uffff`) continue;
      const last = after.startsWith(start) ? after.slice(start.length) : "";
      const page = await rowsOf(name)
        .find({ _id: { $gt: last } }, { projection: { rootId: 1 } })
        .sort({ _id: 1 })
        .limit(limit - found.length)
        .toArray();
      found.push(...page.map(({ _id, rootId }) => ({ key: `${start}${_id}`, rootId, actorId: _id })));
    }
    return found;
  }

  return {
    async setting(name) {
      return (await connection.collection("settings").findOne({ _id: name }))?.["value"] as string | undefined;
    },
    async pageRoots(after, limit) {
      const page = aggregates.find({ _id: { $gt: after as RootId } }, { projection: { _id: 1 } });
      return (await page.sort({ _id: 1 }).limit(limit).toArray()).map(({ _id }) => _id);
    },
    async read(rootId) {
      const document = await aggregates.findOne({ _id: rootId });
      if (document === null) return undefined;
      const { actors: byId, owed } = await unpacked(document);
      const left = document.endedApart === true ? await ended.load(rootId, document.version) : [];
      const { head, actors, apart = [] } = withEnded({ ...toHead<RootId>(document), owed }, byId, left);
      return {
        head,
        owes: document.owes,
        actors,
        apart,
        rows: await readRows(actors),
        eventsGone: (document.eventsGone ?? 0) !== 0,
      };
    },
    eventNumbers: (runId, after, limit) =>
      readNumbers({ runId, after, limit }, recordsIn(connection.collection("events"), runId)),
    async pageOwners(kind: RecordKind, after, limit) {
      const owner = (key: string, rootId: string | null, actorId: string | null): RecordOwner => {
        return { key, rootId: rootId as RootId | null, actorId };
      };
      switch (kind) {
        case "rows":
          return pageRows(after, limit);
        case "events": {
          const found = await distinct(connection.collection("events"), "runId", {}, after, limit);
          return found.map(({ runId }) => owner(runId, runId, null));
        }
        case "commands": {
          const waiting = { answered: false };
          const found = await distinct(connection.collection("inbox"), "rootId", waiting, after, limit);
          return found.map(({ rootId }) => owner(rootId, rootId, null));
        }
        case "outputs":
        case "notes": {
          const page = connection.collection(`step_${kind}`).find({ _id: { $gt: after } });
          const found = await page.project({ runId: 1, stepRunId: 1 }).sort({ _id: 1 }).limit(limit).toArray();
          return found.map((document) => owner(document["_id"], document["runId"], document["stepRunId"]));
        }
        case "attempts": {
          const page = connection.collection("ended_attempts").find({ _id: { $gt: after } });
          const found = await page.project({ rootId: 1 }).sort({ _id: 1 }).limit(limit).toArray();
          return found.map((document) => owner(document["_id"], document["rootId"], document["_id"]));
        }
        case "logs": {
          const page = connection.collection("log_heads").find({ _id: { $gt: after } });
          return (await page.sort({ _id: 1 }).limit(limit).toArray()).map(({ _id }) => owner(_id, null, _id));
        }
      }
    },
    async missingOwners(owners) {
      const missing: RecordOwner[] = [];
      for (const rootId of new Set(owners.map((owner) => owner.rootId))) {
        const ofRoot = owners.filter((owner) => owner.rootId === rootId);
        const ids = ofRoot.flatMap(({ actorId }) => actorId ?? []);
        if (rootId === null) {
          const found = await rowsOf("step_runs")
            .find({ _id: { $in: ids } }, { projection: { _id: 1 } })
            .toArray();
          const known = new Set(found.map(({ _id }) => _id));
          missing.push(...ofRoot.filter(({ actorId }) => !known.has(actorId!)));
          continue;
        }
        const fields = Object.fromEntries(ids.map((id) => [`actors.${id}.kind`, 1]));
        const projection = { shard: 1, version: 1, packed: 1, packedActors: 1, ...fields };
        const found = await aggregates.findOne({ _id: rootId }, { projection });
        const { actors = {} } = found === null ? {} : await unpacked(found);
        const left = ids.filter((id) => found !== null && actors[id] === undefined);
        const apart = left.length === 0 ? [] : await ended.find(rootId, found!.version, left);
        const known = new Set([...Object.keys(actors), ...apart.map(({ id }) => id)]);
        missing.push(...ofRoot.filter(({ actorId }) => found === null || (actorId !== null && !known.has(actorId))));
      }
      return missing;
    },
  };
}
