/**
 * Repairs a database that was restored from a dump. The dump read the collections one after the other while runs went
 * on: `aggregates` first, and each other collection after those that it refers to. So everything that a run needs is
 * there, and also records of the time after the run was read. The repair removes those records and rebuilds the
 * look-ups. No node may use the database meanwhile. The repair may be repeated.
 */
import type { RunId } from "../../domain/ids.ts";
import type { AggregateHead, StoredActor } from "../ports/aggregates.ts";
import { gridBlobStore } from "./blobs.ts";
import type { Collection } from "mongodb";
import { Connection, type Keyed, type MongoOptions, translateFault } from "./connection.ts";
import { EndedAttempts } from "./ended-attempts.ts";
import { type Contents, type PackedFields, unpacked } from "./packed-snapshots.ts";
import { eventsIn } from "../format/packed-events.ts";
import { insertEvents, recordIn } from "./runtime.ts";
import { ReadModels } from "./read-models.ts";
import { USER_COUNTS } from "./users.ts";
import { runRemoval } from "./run-removal.ts";
import type { CollectionName } from "./cluster/sharding.ts";

export interface RepairReport {
  /** How many runs had their look-ups written. */
  readonly runs: number;
  /** What was removed, because no restored run refers to it. */
  readonly removed: {
    readonly events: number;
    /** Counted by steps. */
    readonly logs: number;
    /** Counted by steps. */
    readonly outputs: number;
    readonly artifacts: number;
    readonly commands: number;
  };
}

interface Snapshot extends Pick<AggregateHead, "shard" | "version" | "eventNumber">, Contents, PackedFields {
  readonly _id: RunId;
}

/**
 * The identity of no existing Redis. The next owner of a shard sees that its Redis is another one, and writes
 * everything to it again.
 */
const NO_REDIS = { generation: "restored", redisRunId: "" };
/**
 * Statuses of steps that were never dispatched. Records of such steps were written after the run was read for the dump.
 */
const NOT_DISPATCHED = ["pending", "skipped"];

/** Rejects with `unavailable` when the server cannot be reached. */
export async function repairRestored(options: MongoOptions): Promise<RepairReport> {
  const connection = await Connection.open({ ...options, answerTimeoutMs: 0 });
  try {
    await dropRemovedRuns(connection);
    const { runs, events: later } = await repairRuns(connection);
    const events = later + (await dropStrayAgentEvents(connection));
    const logs = await dropStrayLogs(connection);
    const outputs = await dropStrayOutputs(connection);
    const artifacts = await dropStrayArtifacts(connection);
    const commands = await dropStrayCommands(connection);
    await connection.collection("shards").updateMany({}, { $set: { redis: NO_REDIS } });
    return { runs, removed: { events, logs, outputs, artifacts, commands } };
  } catch (error) {
    throw translateFault(error);
  } finally {
    await connection.close();
  }
}

/** Removes the runs that were removed while the dump was made, because records that were read later may be missing. */
async function dropRemovedRuns(connection: Connection): Promise<void> {
  const aggregates = connection.collection<Snapshot>("aggregates");
  const remove = runRemoval(connection);
  for await (const { _id: runId } of connection.collection<{ _id: RunId }>("removals").find()) {
    const run = await aggregates.findOne({ _id: runId });
    if (run === null) continue;
    const ended = await new EndedAttempts(connection).load(runId, run.version);
    const actors = [...Object.values((await unpacked(run)).actors), ...ended];
    const idsOf = <Id extends string>(kind: StoredActor["kind"]): readonly Id[] =>
      actors.flatMap((actor) => (actor.kind === kind ? [actor.id as Id] : []));
    await remove({ runId, jobIds: idsOf("job"), stepRunIds: idsOf("step"), approvalIds: idsOf("approval") });
  }
}

/** Rebuilds the look-ups from the runs and the users, and removes events with numbers that the restored run has not given yet. */
async function repairRuns(connection: Connection): Promise<{ runs: number; events: number }> {
  for (const name of ["job_runs", "step_runs", "approvals"] as const) await connection.collection(name).deleteMany({});
  // Counted again when it is needed.
  await connection.collection(USER_COUNTS).deleteMany({});
  const readModels = new ReadModels(connection);
  const ended = new EndedAttempts(connection);
  const events = connection.collection("events");
  const deliveries = connection.collection("deliveries");
  const done = { runs: 0, events: 0 };
  for await (const snapshot of connection.collection<Snapshot>("aggregates").find()) {
    const { _id: rootId, shard, version, eventNumber } = snapshot;
    const { actors } = await unpacked(snapshot);
    // The snapshot has these actors, or they began after it.
    await ended.dropFrom(rootId, version);
    const left = await ended.load(rootId, version);
    await readModels.write({ rootId, shard, version }, [
      ...left.filter(({ id }) => actors[id] === undefined),
      ...Object.values(actors),
    ]);
    const later = { runId: rootId, number: { $gt: eventNumber } };
    done.events += await dropLaterEvents(events, rootId, eventNumber);
    // They tell of what has not happened in the restored run.
    await deliveries.deleteMany(later);
    done.runs++;
  }
  return done;
}

/** Removes the events of a run behind a number, and answers how many. A record that also has earlier events gives way to one of those. */
async function dropLaterEvents(events: Collection<Keyed>, runId: RunId, last: number): Promise<number> {
  let later = 0;
  for await (const document of events.find({ runId, number: { $gt: last } })) {
    const all = eventsIn(runId, recordIn(document));
    const kept = all.filter(({ number }) => number <= last);
    later += all.length - kept.length;
    await insertEvents(events, kept, true);
  }
  if (later > 0) await events.deleteMany({ runId, number: { $gt: last } });
  return later;
}

/** Answers the number of steps. */
async function dropStrayLogs(connection: Connection): Promise<number> {
  let dropped = 0;
  for await (const stepRunId of strayStepsIn(connection, "log_chunks")) {
    await connection.collection("log_chunks").deleteMany({ stepRunId });
    await connection.collection("log_heads").deleteOne({ _id: stepRunId });
    dropped++;
  }
  return dropped;
}

/** Drops notes as well. Answers the number of steps with outputs, and of those with notes. */
async function dropStrayOutputs(connection: Connection): Promise<number> {
  let dropped = 0;
  for (const name of ["step_outputs", "step_notes"] as const) {
    for await (const stepRunId of strayStepsIn(connection, name)) {
      await connection.collection(name).deleteMany({ stepRunId });
      dropped++;
    }
  }
  return dropped;
}

/** Deletes the content before the record, so that a repeat finds what was cut off. */
async function dropStrayArtifacts(connection: Connection): Promise<number> {
  const [artifacts, blobs] = [connection.collection("artifacts"), gridBlobStore(connection)];
  let dropped = 0;
  for await (const stepRunId of strayStepsIn(connection, "artifacts")) {
    for await (const { _id } of artifacts.find({ stepRunId }, { projection: { _id: 1 } })) {
      await blobs.delete(_id);
      await artifacts.deleteOne({ _id });
      dropped++;
    }
  }
  return dropped;
}

/**
 * The steps that the collection has records of and that were not dispatched. Such records must go: the ids of attempts
 * are derived and fencing tokens are counted, so a new attempt may get the same id and token.
 */
async function* strayStepsIn(
  connection: Connection,
  collection: CollectionName,
  field = "stepRunId",
): AsyncGenerator<string> {
  const steps = connection.collection("step_runs");
  // Events of agents about themselves have no step.
  const ofSteps = { $match: { [field]: { $ne: null } } };
  const found = connection
    .collection(collection)
    .aggregate<{ _id: string }>([ofSteps, { $group: { _id: `$${field}` } }]);
  for await (const { _id: stepRunId } of found) {
    const step = await steps.findOne({ _id: stepRunId }, { projection: { status: 1 } });
    if (step === null || NOT_DISPATCHED.includes(step["status"] as string)) yield stepRunId;
  }
}

/** Answers the number of events. */
async function dropStrayAgentEvents(connection: Connection): Promise<number> {
  let dropped = 0;
  for await (const stepRunId of strayStepsIn(connection, "agent_events", "body.stepRunId")) {
    const { deletedCount } = await connection.collection("agent_events").deleteMany({ "body.stepRunId": stepRunId });
    dropped += deletedCount;
  }
  return dropped;
}

/** Removes commands for runs that do not exist: the owner of the shard would find them in each sweep. */
async function dropStrayCommands(connection: Connection): Promise<number> {
  const inbox = connection.collection("inbox");
  const aggregates = connection.collection("aggregates");
  const waiting = [{ $match: { answered: false } }, { $group: { _id: "$rootId" } }];
  let dropped = 0;
  for await (const { _id: rootId } of inbox.aggregate<{ _id: string }>(waiting)) {
    if ((await aggregates.findOne({ _id: rootId }, { projection: { _id: 1 } })) !== null) continue;
    dropped += (await inbox.deleteMany({ rootId, answered: false })).deletedCount;
  }
  return dropped;
}
