/**
 * Makes a database whole that was restored from a dump of collections that were read one after the other while runs went
 * on: `aggregates` first, and of others what refers to something before that. Then all that a run needs is there, and
 * there is more besides, of a time that is forgotten; this takes it away, and writes the look-ups anew. Nothing else may
 * work on the database meanwhile. It can be repeated.
 */
import type { RunId } from "../../domain/ids.ts";
import type { AggregateHead, StoredActor } from "../ports/aggregates.ts";
import { gridBlobStore } from "./blobs.ts";
import { Connection, type MongoOptions, translateFault } from "./connection.ts";
import { ReadModels } from "./read-models.ts";
import { runRemoval } from "./run-removal.ts";

export interface RepairReport {
  /** Runs whose look-ups were written. */
  readonly runs: number;
  /** What was taken away since the runs, as they are now, know nothing of it. */
  readonly removed: {
    readonly events: number;
    readonly logs: number;
    readonly outputs: number;
    readonly artifacts: number;
    readonly commands: number;
  };
}

interface Snapshot extends Pick<AggregateHead, "shard" | "version" | "eventNumber"> {
  readonly _id: RunId;
  readonly actors: Readonly<Record<string, StoredActor>>;
}

/** Of no Redis: whoever owns a shard next finds that the Redis it knows is another, and tells it everything. */
const NO_REDIS = { generation: "restored", redisRunId: "" };
/** Of steps that no agent has been given: what is stored of them was written in the time that is forgotten. */
const NOT_DISPATCHED = ["pending", "skipped"];

/** Rejects with `unavailable` when the server cannot be reached. */
export async function repairRestored(options: MongoOptions): Promise<RepairReport> {
  const connection = await Connection.open(options);
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

/** Runs that were removed while the dump was made: of what was read after them a part may be missing. */
async function dropRemovedRuns(connection: Connection): Promise<void> {
  const aggregates = connection.collection<Snapshot>("aggregates");
  const remove = runRemoval(connection);
  for await (const { _id: runId } of connection.collection<{ _id: RunId }>("removals").find()) {
    const run = await aggregates.findOne({ _id: runId });
    if (run === null) continue;
    const actors = Object.values(run.actors);
    const idsOf = <Id extends string>(kind: StoredActor["kind"]): readonly Id[] =>
      actors.flatMap((actor) => (actor.kind === kind ? [actor.id as Id] : []));
    await remove({ runId, jobIds: idsOf("job"), stepRunIds: idsOf("step"), approvalIds: idsOf("approval") });
  }
}

/** Look-ups are made of the runs, and the numbers of events that a run has yet to give are free again. */
async function repairRuns(connection: Connection): Promise<{ runs: number; events: number }> {
  for (const name of ["job_runs", "step_runs", "approvals"]) await connection.collection(name).deleteMany({});
  const readModels = new ReadModels(connection);
  const events = connection.collection("events");
  const done = { runs: 0, events: 0 };
  for await (const { _id: rootId, shard, version, eventNumber, actors } of connection
    .collection<Snapshot>("aggregates")
    .find()) {
    await readModels.write({ rootId, shard, version }, Object.values(actors));
    const { deletedCount } = await events.deleteMany({ runId: rootId, number: { $gt: eventNumber } });
    done.runs++;
    done.events += deletedCount;
  }
  return done;
}

/** Answers of how many steps. */
async function dropStrayLogs(connection: Connection): Promise<number> {
  let dropped = 0;
  for await (const stepRunId of strayStepsIn(connection, "log_chunks")) {
    await connection.collection("log_chunks").deleteMany({ stepRunId });
    await connection.collection("log_heads").deleteOne({ _id: stepRunId });
    dropped++;
  }
  return dropped;
}

/** Answers of how many steps. */
async function dropStrayOutputs(connection: Connection): Promise<number> {
  let dropped = 0;
  for await (const stepRunId of strayStepsIn(connection, "step_outputs")) {
    await connection.collection("step_outputs").deleteMany({ stepRunId });
    dropped++;
  }
  return dropped;
}

/** With their content, the record last: what is cut off is found again. */
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
 * Steps that the collection tells of and that were not dispatched. The ids of attempts are derived and fencing tokens are
 * counted, so that another attempt may come to stand where the forgotten one stood.
 */
async function* strayStepsIn(connection: Connection, collection: string, field = "stepRunId"): AsyncGenerator<string> {
  const steps = connection.collection("step_runs");
  // What agents tell of themselves is of no step.
  const ofSteps = { $match: { [field]: { $ne: null } } };
  const told = connection
    .collection(collection)
    .aggregate<{ _id: string }>([ofSteps, { $group: { _id: `$${field}` } }]);
  for await (const { _id: stepRunId } of told) {
    const step = await steps.findOne({ _id: stepRunId }, { projection: { status: 1 } });
    if (step === null || NOT_DISPATCHED.includes(step["status"] as string)) yield stepRunId;
  }
}

/** Answers how many events. */
async function dropStrayAgentEvents(connection: Connection): Promise<number> {
  let dropped = 0;
  for await (const stepRunId of strayStepsIn(connection, "agent_events", "body.stepRunId")) {
    const { deletedCount } = await connection.collection("agent_events").deleteMany({ "body.stepRunId": stepRunId });
    dropped += deletedCount;
  }
  return dropped;
}

/** Commands to runs that are not there would be looked at for ever. */
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
