/** The stores of plans, commands, run events, shards, dead letters and idempotency keys in MongoDB. */
import { Binary, type Collection, type Filter } from "mongodb";
import { MillraceError } from "../../domain/errors.ts";
import type { Verdict } from "../../domain/effects.ts";
import type { RunEvent } from "../../domain/events.ts";
import type { CommandId, RootId, RunId } from "../../domain/ids.ts";
import type { JobSpec, RunPlan } from "../../domain/plan.ts";
import { jsonInPieces } from "../format/json-in-pieces.ts";
import { readEvents, type ReadRecord, recordsOf } from "../format/packed-events.ts";
import { packPlan, unpackPlan } from "../format/packed-plans.ts";
import type { DeadLetter, DeadLetterStore, KeptDeadLetter } from "../ports/dead-letters.ts";
import type { AgentEventStore } from "../ports/agent-events.ts";
import { type EventStore, withContent } from "../ports/events.ts";
import type { IdempotencyKey, IdempotencyStore } from "../ports/idempotency.ts";
import type { Command, InboxStore } from "../ports/inbox.ts";
import type { PlanStore } from "../ports/plans.ts";
import type { RedisIdentity, ShardStore, TakenEpoch } from "../ports/shards.ts";
import { DURABLE } from "./cluster/concerns.ts";
import { type Connection, insertAbsent, insertIfAbsent, type Keyed, untilMajority } from "./connection.ts";
import { behindPlace } from "./pages.ts";

/**
 * The largest text of a document, bytes: a document holds at most 16 MiB, and its id and field names take a part of
 * that.
 */
const MAX_TEXT_BYTES = 16 * 1024 * 1024 - 1024;

/** Plans and jobs are stored as text, because arguments may have any keys, also with dots and dollar signs. */
export function planStore(connection: Connection): PlanStore {
  const plans = connection.collection("plans");
  const specs = connection.collection("job_specs");
  return {
    async put(runId, plan, jobs, packs = false) {
      const packed = packs ? packPlan(plan, jobs) : undefined;
      if (packed !== undefined) {
        await insertIfAbsent(plans, { _id: runId, packed: new Binary(packed) });
        return;
      }
      const graph = textOf(plan, "the plan");
      await insertAbsent(
        specs,
        jobs.map((job, index) => ({ _id: `${runId}:${index}`, text: textOf(job, `job ${index} of the plan`) })),
      );
      // The plan is stored last, so that a stored plan has all its jobs.
      await insertIfAbsent(plans, { _id: runId, text: graph });
    },
    loadPlan: async (runId) => planOf(await plans.findOne({ _id: runId })),
    async loadPlanInPieces(runId, pause) {
      const document = await plans.findOne({ _id: runId });
      if (isPacked(document)) return planOf(document);
      return document === null ? undefined : jsonInPieces<RunPlan>(document["text"] as string, "jobs", pause);
    },
    async loadPlans(runIds) {
      const found = await plans.find({ _id: { $in: [...runIds] } }).toArray();
      return new Map(found.map((document) => [document._id as RunId, planOf(document)!]));
    },
    async loadJob(runId, jobIndex) {
      // A packed plan has its jobs. The text of another plan may be large.
      const plan = await plans.findOne({ _id: runId }, { projection: { packed: 1 } });
      if (isPacked(plan)) return unpackPlan(bytesIn(plan)).jobs[jobIndex];
      return parsed<JobSpec>(await specs.findOne({ _id: `${runId}:${jobIndex}` }));
    },
  };
}

interface PackedDocument extends Keyed {
  readonly packed: Binary;
}

function isPacked(document: Keyed | null): document is PackedDocument {
  return document !== null && document["packed"] instanceof Binary;
}

function bytesIn({ packed: { buffer, position } }: PackedDocument): Uint8Array {
  return buffer.subarray(0, position);
}

function planOf(document: Keyed | null): RunPlan | undefined {
  return isPacked(document) ? unpackPlan(bytesIn(document)).graph : parsed<RunPlan>(document);
}

interface CommandDocument {
  readonly _id: CommandId;
  readonly rootId: RootId;
  readonly shard: number;
  readonly seq: number;
  readonly answered: boolean;
  readonly command: Command;
  readonly verdict: Verdict | null;
}

export function inboxStore(connection: Connection): InboxStore {
  const inbox = connection.collection<CommandDocument>("inbox");
  const counters = connection.collection<{ _id: RootId; seq: number }>("inbox_counters");
  return {
    async insert(command) {
      const { id, rootId, shard } = command;
      // A repeat takes a number that it does not use. The gap does not change the order.
      const counter = await counters.findOneAndUpdate(
        { _id: rootId },
        { $inc: { seq: 1 } },
        { upsert: true, returnDocument: "after" },
      );
      const { seq } = counter!;
      await insertIfAbsent(inbox, { _id: id, rootId, shard, seq, answered: false, command, verdict: null });
    },
    pending: (rootId) =>
      inbox
        .find({ rootId, answered: false })
        .sort({ seq: 1, _id: 1 })
        .map(({ command }) => command)
        .toArray(),
    async pageRoots(shard, after, limit) {
      const roots = inbox.aggregate<{ _id: RootId }>([
        { $match: { shard, answered: false, rootId: { $gt: after } } },
        { $group: { _id: "$rootId" } },
        { $sort: { _id: 1 } },
        { $limit: limit },
      ]);
      return roots.map(({ _id }) => _id).toArray();
    },
    async answer(id, verdict) {
      await inbox.updateOne({ _id: id, answered: false }, { $set: { answered: true, verdict } });
    },
    async verdict(id) {
      const found = (await inbox.findOne({ _id: id }))?.verdict;
      if (found === undefined || found === null) return found;
      // A verdict that only the primary has may be rolled back: until a majority has it, it is none.
      return (await inbox.findOne({ _id: id }, DURABLE))?.verdict ?? null;
    },
    async forgetAnswered(rootId, before) {
      await inbox.deleteMany({ rootId, answered: true, "command.storedAt": { $lt: before } });
    },
  };
}

export function eventStore(connection: Connection, agentEvents: Pick<AgentEventStore, "ofStep">): EventStore {
  const events = connection.collection("events");
  return {
    append: (list, packs) => insertEvents(events, list, packs),
    async read(runId, after, limit) {
      return withContent(agentEvents, await readEvents({ runId, after, limit }, recordsIn(events, runId)));
    },
  };
}

/** Reads records of the events of a run. */
export function recordsIn(
  events: Collection<Keyed>,
  runId: RunId,
): (from: number, most: number) => Promise<readonly ReadRecord[]> {
  return (from, most) =>
    events
      .find({ runId, number: { $gt: from } })
      .sort({ number: 1 })
      .limit(most)
      .map(recordIn)
      .toArray();
}

/** What a document holds of the events of its run. */
export function recordIn(document: Keyed): ReadRecord {
  const body = isPacked(document) ? bytesIn(document) : (document["body"] as RunEvent);
  return { number: document["number"] as number, body };
}

/** Stores events. An event that is stored already does not change. */
export function insertEvents(events: Collection<Keyed>, list: readonly RunEvent[], packs = false): Promise<void> {
  const documents = recordsOf(list, packs).map(({ runId, first, number, body }) =>
    body instanceof Uint8Array
      ? { _id: `${runId}:${first}-${number}`, runId, number, packed: new Binary(body) }
      : { _id: `${runId}:${number}`, runId, number, body },
  );
  return insertAbsent(events, documents);
}

const ID_ALONE = { projection: { _id: 1 } };

interface ShardDocument {
  readonly _id: string;
  readonly epoch: number;
  readonly redis: RedisIdentity | null;
}

export function shardStore(connection: Connection): ShardStore {
  const shards = connection.collection<ShardDocument>("shards");
  const settings = connection.collection<{ _id: string; value: string }>("settings");
  const [inbox, aggregates] = [connection.collection("inbox"), connection.collection("aggregates")];
  const takeEpoch = async (shard: number, least = 1): Promise<TakenEpoch> => {
    const _id = String(shard);
    await insertIfAbsent(shards, { _id, epoch: 0, redis: null });
    // Compare-and-set in place of $inc with its answer: not every server answers with the document as its own update
    // left it.
    for (;;) {
      const { epoch } = (await shards.findOne({ _id }))!;
      const next = Math.max(epoch + 1, least);
      const { matchedCount } = await shards.updateOne({ _id, epoch }, { $set: { epoch: next } });
      if (matchedCount === 0) continue;
      // Read after the update: from now on the previous owner cannot record anything.
      return { epoch: next, previous: (await shards.findOne({ _id }))!.redis };
    }
  };
  return {
    takeEpoch,
    async takeEpochs(some, least = 1) {
      if (some.length === 0) return new Map();
      const ids = some.map(String);
      const read = () => shards.find({ _id: { $in: ids } }).toArray();
      const known = await read();
      const missing = ids.filter((_id) => !known.some((document) => document._id === _id));
      await insertAbsent(
        connection.collection("shards"),
        missing.map((_id) => ({ _id, epoch: 0, redis: null })),
      );
      const epochs = new Map([
        ...missing.map((_id) => [_id, 0] as const),
        ...known.map(({ _id, epoch }) => [_id, epoch] as const),
      ]);
      const next = new Map([...epochs].map(([_id, epoch]) => [_id, Math.max(epoch + 1, least)]));
      const updates = ids.map((_id) => ({
        updateOne: { filter: { _id, epoch: epochs.get(_id)! }, update: { $set: { epoch: next.get(_id)! } } },
      }));
      const { matchedCount } = await shards.bulkWrite(updates, { ordered: false });
      // The server does not say which of the epochs another node has taken meanwhile. Each shard gets a further one then.
      if (matchedCount < ids.length) {
        return new Map(await Promise.all(some.map(async (shard) => [shard, await takeEpoch(shard, least)] as const)));
      }
      // Read after the updates: from now on the previous owners cannot record anything.
      return new Map((await read()).map(({ _id, redis }) => [Number(_id), { epoch: next.get(_id)!, previous: redis }]));
    },
    async recordRedis(shard, epoch, identity) {
      await shards.updateOne({ _id: String(shard), epoch }, { $set: { redis: identity } });
    },
    async withWork(some, dueAt) {
      const shard = { $in: [...some] };
      // The indexes of these fields begin with the shard, so that the server skips from one shard to the next.
      const owing = { shard, owes: true };
      const due = { shard, nextDueAt: { $ne: null, $lte: dueAt } };
      const anyAggregate = async () => (await aggregates.findOne({ $or: [owing, due] }, ID_ALONE)) !== null;
      // Most calls find nothing, so one query asks for both kinds of aggregates first. It ends with the first one.
      const [commanded, isMore] = await Promise.all([
        inbox.distinct("shard", { shard, answered: false }),
        anyAggregate(),
      ]);
      const found = isMore
        ? await Promise.all([aggregates.distinct("shard", owing), aggregates.distinct("shard", due)])
        : [];
      return new Set([commanded, ...found].flat() as number[]);
    },
    async epochs() {
      const found = await shards.find({ epoch: { $gt: 0 } }).toArray();
      return new Map(found.map(({ _id, epoch }) => [Number(_id), epoch]));
    },
    async fixSetting(name, value) {
      await insertIfAbsent(settings, { _id: name, value });
      return (await settings.findOne({ _id: name }))!.value;
    },
    readSetting: async (name) => (await settings.findOne({ _id: name }))?.value,
    async swapSetting(name, from, to) {
      return (await settings.updateOne({ _id: name, value: from }, { $set: { value: to } })).matchedCount > 0;
    },
    async raiseSetting(name, least) {
      await insertIfAbsent(settings, { _id: name, value: String(least) });
      for (;;) {
        const { value } = (await settings.findOne({ _id: name }))!;
        if (Number(value) >= least) return Number(value);
        await settings.updateOne({ _id: name, value }, { $set: { value: String(least) } });
      }
    },
  };
}

interface DeadLetterDocument {
  readonly _id: string;
  readonly at: number;
  readonly times: number;
  /** The dead letter as text, because its message may have any keys. */
  readonly text: string;
}

export function deadLetterStore(connection: Connection): DeadLetterStore {
  const deadLetters = connection.collection<DeadLetterDocument>("dead_letters");
  const toDeadLetter = ({ text, times }: DeadLetterDocument): KeptDeadLetter => {
    return { ...(JSON.parse(text) as DeadLetter), times };
  };
  return {
    async insert(deadLetter) {
      const { id: _id, at } = deadLetter;
      const text = JSON.stringify(deadLetter);
      // The loop tries again when the dead letter is removed between the insert and the update.
      for (;;) {
        if (await insertIfAbsent(deadLetters, { _id, at, times: 1, text })) return;
        const { matchedCount } = await deadLetters.updateOne({ _id }, { $set: { at, text }, $inc: { times: 1 } });
        if (matchedCount > 0) return;
      }
    },
    async find(id) {
      const found = await deadLetters.findOne({ _id: id });
      return found === null ? undefined : toDeadLetter(found);
    },
    async remove(id, times) {
      await deadLetters.deleteOne({ _id: id, times });
    },
    list({ offset, limit, descending, after }) {
      const order = descending ? -1 : 1;
      const sort = { at: order, _id: order } as const;
      const filter = after && (behindPlace(Object.entries(sort), [after.at, after.id]) as Filter<DeadLetterDocument>);
      return deadLetters
        .find(filter ?? {}, { sort, skip: offset, limit })
        .map(toDeadLetter)
        .toArray();
    },
    count: () => deadLetters.countDocuments(),
    async forget({ before, most, limit }) {
      const [old, all] = await Promise.all([
        deadLetters.countDocuments({ at: { $lt: before } }),
        deadLetters.countDocuments(),
      ]);
      const surplus = Math.min(limit, Math.max(old, all - most));
      if (surplus <= 0) return 0;
      const oldest = await deadLetters
        .find({}, { projection: { _id: 1 } })
        .sort({ at: 1, _id: 1 })
        .limit(surplus)
        .toArray();
      return removeFound(deadLetters, oldest);
    },
  };
}

export function idempotencyStore(connection: Connection): IdempotencyStore {
  const keys = connection.collection<{ _id: string; body: IdempotencyKey }>("idempotency");
  return {
    async claim(key) {
      for (;;) {
        await insertIfAbsent(keys, { _id: key.key, body: key });
        const stored = await keys.findOne({ _id: key.key });
        // Another caller may remove the key in between.
        if (stored !== null) return stored.body;
      }
    },
    async find(key) {
      const found = (await keys.findOne({ _id: key }))?.body;
      if (found !== undefined && (await untilMajority(keys, [key])) === "gone") return undefined;
      return found;
    },
    async remove(key, createdId) {
      await keys.deleteOne({ _id: key, ...(createdId !== undefined && { "body.createdId": createdId }) });
    },
    async forget(before, limit) {
      const old = { "body.at": { $lt: before }, "body.bodyHash": { $ne: "" } };
      return removeFound(
        keys,
        await keys
          .find(old, { projection: { _id: 1 } })
          .limit(limit)
          .toArray(),
      );
    },
  };
}

async function removeFound<T extends { _id: string }>(
  collection: Collection<T>,
  found: readonly { readonly _id: unknown }[],
): Promise<number> {
  if (found.length === 0) return 0;
  const filter = { _id: { $in: found.map(({ _id }) => _id) } } as Filter<T>;
  return (await collection.deleteMany(filter)).deletedCount;
}

function textOf(value: unknown, what: string): string {
  const text = JSON.stringify(value);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_TEXT_BYTES) return text;
  throw new MillraceError(
    "too_large",
    `${what} has ${bytes} bytes, and the store holds at most ${MAX_TEXT_BYTES} in one piece: ` +
      "split the pipeline, or move long scripts and arguments into the repository",
  );
}

function parsed<T>(document: Keyed | null): T | undefined {
  return document === null ? undefined : (JSON.parse(document["text"] as string) as T);
}
