/**
 * The keys by which collections of MongoDB can be sharded, and which queries of the stores name them. A query that does not
 * goes to all shards.
 */
import { type CommandStartedEvent, type Document, MongoClient } from "mongodb";

/**
 * The collections that grow with runs and content. All others are small, or have a unique index of another kind, and stay on
 * one shard.
 */
export const SHARD_KEYS: Readonly<Record<string, string>> = {
  aggregates: "_id",
  approvals: "_id",
  artifacts: "_id",
  "blobs.chunks": "files_id",
  "blobs.files": "_id",
  deliveries: "_id",
  ended_attempts: "rootId",
  events: "runId",
  idempotency: "_id",
  inbox: "rootId",
  inbox_counters: "_id",
  job_runs: "_id",
  job_specs: "_id",
  log_chunks: "stepRunId",
  log_heads: "_id",
  log_joinings: "_id",
  plans: "_id",
  step_notes: "runId",
  step_outputs: "_id",
  step_runs: "_id",
};

/** Collects the queries of all clients that connect from now on that go to all shards, each once, as texts. */
export function watchShardKeys(): { readonly found: ReadonlySet<string>; stop(): void } {
  const found = new Set<string>();
  // oxlint-disable-next-line typescript/unbound-method
  const { connect } = MongoClient.prototype;
  MongoClient.prototype.connect = function (this: MongoClient) {
    (this as { monitorCommands?: boolean }).monitorCommands = true;
    this.on("commandStarted", (event) => {
      for (const query of queriesToAll(event)) found.add(query);
    });
    return Reflect.apply(connect, this, []);
  };
  return { found, stop: () => void (MongoClient.prototype.connect = connect) };
}

function queriesToAll({ commandName, command }: CommandStartedEvent): readonly string[] {
  const collection = String(command[commandName]);
  const key = SHARD_KEYS[collection];
  if (key === undefined) return [];
  return filtersOf(commandName, command)
    .filter((filter) => !names(filter[key]))
    .map((filter) => `${collection}: ${commandName} ${Object.keys(filter).sort().join(", ") || "everything"}`);
}

function filtersOf(commandName: string, command: Document): readonly Document[] {
  switch (commandName) {
    case "find":
      return [command["filter"] as Document];
    case "distinct":
    case "count":
    case "findAndModify":
      return [(command["query"] ?? {}) as Document];
    case "update":
      return (command["updates"] as Document[]).map(({ q }) => q as Document);
    case "delete":
      return (command["deletes"] as Document[]).map(({ q }) => q as Document);
    case "aggregate":
      return [((command["pipeline"] as Document[])[0]?.["$match"] ?? {}) as Document];
    default:
      return [];
  }
}

/** True for a value, or for a list of values. */
function names(condition: unknown): boolean {
  if (condition === undefined) return false;
  if (typeof condition !== "object" || condition === null) return true;
  const operators = Object.keys(condition);
  return operators.some((operator) => operator === "$eq" || operator === "$in");
}
