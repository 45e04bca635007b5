/** What runs leave besides snapshots, in MongoDB: plans, commands, events, shards, dead letters, idempotency keys. */
import type { Verdict } from "../../domain/effects.ts";
import type { RunEvent } from "../../domain/events.ts";
import type { RunId } from "../../domain/ids.ts";
import type { JobSpec, RunPlan } from "../../domain/plan.ts";
import type { DeadLetter, DeadLetterStore } from "../dead-letters.ts";
import type { EventStore } from "../events.ts";
import type { IdempotencyKey, IdempotencyStore } from "../idempotency.ts";
import type { Command, InboxStore } from "../inbox.ts";
import type { PlanStore } from "../plans.ts";
import type { RedisIdentity, ShardStore } from "../shards.ts";
import { type Connection, guard, insertIfAbsent, isDuplicateKey, type Keyed } from "./connection.ts";

export function planStore(connection: Connection): PlanStore {
  const plans = connection.collection("plans");
  const specs = connection.collection("job_specs");
  return {
    async put(runId, plan, jobs) {
      await insertAbsent(
        specs,
        // Arguments may have any keys, dots and dollar signs among them: a job is kept as text.
        jobs.map((job, index) => ({ _id: `${runId}:${index}`, text: JSON.stringify(job) })),
      );
      await insertIfAbsent(plans, { _id: runId, body: plan });
    },
    loadPlan: async (runId) => bodyOf<RunPlan>(await guard(() => plans.findOne({ _id: runId }))),
    async loadJob(runId, jobIndex) {
      const document = await guard(() => specs.findOne({ _id: `${runId}:${jobIndex}` }));
      return document === null ? undefined : (JSON.parse(document["text"] as string) as JobSpec);
    },
  };
}

export function inboxStore(connection: Connection): InboxStore & { prepare(): Promise<void> } {
  const inbox = connection.collection("inbox");
  const counters = connection.collection("inbox_counters");
  return {
    async prepare() {
      await guard(() =>
        inbox.createIndexes([
          { key: { shard: 1, answered: 1, rootId: 1 } },
          { key: { rootId: 1, answered: 1, seq: 1 } },
        ]),
      );
    },
    async insert(command: Command) {
      // A number that is taken and not used leaves a hole, which changes no order.
      const counter = await guard(() =>
        counters.findOneAndUpdate(
          { _id: command.rootId },
          { $inc: { seq: 1 } },
          { upsert: true, returnDocument: "after" },
        ),
      );
      const { rootId, shard } = command;
      await insertIfAbsent(inbox, {
        _id: command.id,
        rootId,
        shard,
        seq: counter!["seq"] as number,
        answered: false,
        command,
        verdict: null,
      });
    },
    async pending(rootId: RunId) {
      const found = await guard(() => inbox.find({ rootId, answered: false }).sort({ seq: 1, _id: 1 }).toArray());
      return found.map((document) => document["command"] as Command);
    },
    async pageRoots(shard: number, after: string, limit: number) {
      const found = await guard(() =>
        inbox
          .aggregate<{ _id: RunId }>([
            { $match: { shard, answered: false, rootId: { $gt: after } } },
            { $group: { _id: "$rootId" } },
            { $sort: { _id: 1 } },
            { $limit: limit },
          ])
          .toArray(),
      );
      return found.map(({ _id }) => _id);
    },
    async answer(id, verdict) {
      await guard(() => inbox.updateOne({ _id: id, answered: false }, { $set: { answered: true, verdict } }));
    },
    async verdict(id) {
      const document = await guard(() => inbox.findOne({ _id: id }));
      return document === null ? undefined : (document["verdict"] as Verdict | null);
    },
  };
}

export function eventStore(connection: Connection): EventStore & { prepare(): Promise<void> } {
  const events = connection.collection("events");
  return {
    async prepare() {
      await guard(() => events.createIndexes([{ key: { runId: 1, number: 1 } }]));
    },
    async append(list) {
      await insertAbsent(
        events,
        list.map((body) => ({ _id: `${body.runId}:${body.number}`, runId: body.runId, number: body.number, body })),
      );
    },
    async read(runId, after, limit) {
      const found = await guard(() =>
        events
          .find({ runId, number: { $gt: after } })
          .sort({ number: 1 })
          .limit(limit)
          .toArray(),
      );
      return found.map((document) => bodyOf<RunEvent>(document)!);
    },
  };
}

export function shardStore(connection: Connection): ShardStore {
  const shards = connection.collection("shards");
  const settings = connection.collection("settings");
  return {
    async takeEpoch(shard) {
      const _id = String(shard);
      await insertIfAbsent(shards, { _id, epoch: 0 });
      // Compare and set rather than $inc with its answer: not every server answers with the document of its own update.
      for (;;) {
        const document = (await guard(() => shards.findOne({ _id })))!;
        const epoch = (document["epoch"] as number) + 1;
        const taken = await guard(() => shards.updateOne({ _id, epoch: epoch - 1 }, { $set: { epoch } }));
        if (taken.matchedCount > 0)
          return { epoch, previous: (document["redis"] as RedisIdentity | undefined) ?? null };
      }
    },
    async recordRedis(shard, epoch, identity) {
      await guard(() => shards.updateOne({ _id: String(shard), epoch }, { $set: { redis: identity } }));
    },
    async fixSetting(name, value) {
      await insertIfAbsent(settings, { _id: name, value });
      const document = await guard(() => settings.findOne({ _id: name }));
      return document!["value"] as string;
    },
  };
}

export function deadLetterStore(connection: Connection): DeadLetterStore & { prepare(): Promise<void> } {
  const letters = connection.collection("dead_letters");
  return {
    async prepare() {
      await guard(() => letters.createIndexes([{ key: { at: 1 } }]));
    },
    async insert(letter) {
      // A letter may hold any keys, dots and dollar signs among them: it is kept as text.
      await insertIfAbsent(letters, { _id: letter.id, at: letter.at, text: JSON.stringify(letter) });
    },
    async list(limit) {
      const found = await guard(() => letters.find().sort({ at: 1, _id: 1 }).limit(limit).toArray());
      return found.map((document) => JSON.parse(document["text"] as string) as DeadLetter);
    },
    count: () => guard(() => letters.countDocuments()),
  };
}

export function idempotencyStore(connection: Connection): IdempotencyStore {
  const keys = connection.collection("idempotency");
  return {
    async claim(key) {
      await insertIfAbsent(keys, { _id: key.key, body: key });
      return bodyOf<IdempotencyKey>(await guard(() => keys.findOne({ _id: key.key })))!;
    },
  };
}

/** Inserts those documents whose ids are not taken. */
async function insertAbsent(
  collection: ReturnType<Connection["collection"]>,
  documents: readonly Keyed[],
): Promise<void> {
  if (documents.length === 0) return;
  await guard(async () => {
    try {
      await collection.insertMany([...documents], { ordered: false });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
  });
}

function bodyOf<T>(document: Keyed | null): T | undefined {
  return document === null ? undefined : (document["body"] as T);
}
