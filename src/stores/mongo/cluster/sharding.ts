/**
 * How a sharded cluster divides the collections. A query that names the shard key of its collection goes to the shards
 * that may have such documents; any other query of a sharded collection goes to all shards.
 */

/**
 * The collections that grow with runs and content, and the field by whose hash each is divided. What is read and changed
 * most often names it. Ids begin with a time: divided by their ranges, all new documents would go to one shard.
 */
export const SHARD_KEYS = {
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
  plans: "_id",
  removals: "_id",
  run_images: "runId",
  step_notes: "runId",
  step_outputs: "_id",
  step_runs: "_id",
  upload_uses: "uploadId",
} as const satisfies Readonly<Record<string, string>>;

/** The collections that stay on one shard, each with the reason. */
export const UNSHARDED = {
  agent_events:
    "the place of an event in the log of its step is unique, and the id of its agent is too; they end with their run",
  agents: "one for each agent; their names are unique",
  area_deletions: "one for each project or tenant that is being deleted",
  audit: "what people change; `MILLRACE_KEEP_AUDIT` bounds them",
  bindings: "one for each role that is given",
  caches: "`MILLRACE_CACHE_LIMIT` bounds the entries of a project",
  dead_letters: "at most 10,000",
  documents: "settings of projects, tenants and users",
  failing_revisions: "one for each job of a pipeline",
  hook_deliveries: "a sender's id is unique for its hook; they are kept for 30 days at most",
  hooks: "one for each hook; their names are unique in a project",
  identities: "one for each login of a user elsewhere",
  log_joinings: "one for each log that is not joined yet",
  owned_plugins: "one for each version of a plugin; their packages are unique",
  pipeline_deletions: "one for each pipeline that is being deleted",
  pipelines: "one for each pipeline; their names are unique in a project",
  plugins: "one for each version of a plugin; their packages are unique",
  projects: "one for each project; their names are unique in a tenant",
  revisions: "one for each saved definition",
  secrets: "one for each secret",
  sessions: "one for each login",
  settings: "a few",
  shards: "one for each shard of the mailboxes",
  statistics: "one for each job of a pipeline and day",
  statistics_additions: "at most one",
  system_events: "their numbers are unique in a log, and their ids are too; `MILLRACE_KEEP_AUDIT` bounds them",
  team_members: "one for each member of a team",
  teams: "one for each team; their names are unique in a tenant",
  tenants: "one for each tenant; their short names are unique",
  test_histories: "one for each test of a pipeline",
  tokens: "one for each token",
  uploads: "at most 10,000 of a project",
  user_counts: "one",
  users: "one for each user; their names are unique",
  vouchers: "one for each invitation or login that is under way",
} as const satisfies Readonly<Record<string, string>>;

/** A query of a sharded collection that does not name its key. It must be rare, or little for each shard. */
export interface ToAllShards {
  readonly collection: ShardedName;
  /** A field that the query names; `_id` for a range of ids, and null for a query of all documents. */
  readonly by: string | null;
  readonly asks: string;
  readonly often: string;
}

const rarely = "by an operator's command";
const retention = "retention";

/** All queries that go to all shards. The tests fail for any other one. */
export const TO_ALL_SHARDS: readonly ToAllShards[] = [
  {
    collection: "aggregates",
    by: "shard",
    asks: "which shards of the mailboxes have work",
    often: "each worker, each second",
  },
  {
    collection: "aggregates",
    by: "summary.pipelineId",
    asks: "lists and searches of runs",
    often: "each list; retention",
  },
  {
    collection: "aggregates",
    by: "summary.projectId",
    asks: "runs of a project whose events are not told",
    often: "each 2 s; retention",
  },
  { collection: "aggregates", by: "final", asks: "ended runs that are not in the statistics", often: "each 10 s" },
  { collection: "aggregates", by: "_id", asks: "all runs in order", often: rarely },
  { collection: "aggregates", by: null, asks: "all runs", often: rarely },
  { collection: "approvals", by: "status", asks: "lists of approvals", often: "each list" },
  { collection: "approvals", by: "_id", asks: "all approvals in order", often: rarely },
  { collection: "approvals", by: null, asks: "all approvals", often: rarely },
  {
    collection: "artifacts",
    by: "runId",
    asks: "artifacts of a run, and their bytes",
    often: "each artifact; each list",
  },
  { collection: "artifacts", by: "stepRunId", asks: "artifacts of steps that a run takes over", often: "each rerun" },
  { collection: "artifacts", by: "expiresAt", asks: "artifacts that have expired", often: "each worker, each 5 s" },
  {
    collection: "deliveries",
    by: "state",
    asks: "deliveries that are due",
    often: "each worker, each 2 s; each delivery",
  },
  { collection: "deliveries", by: "lane", asks: "lists of deliveries", often: "each list" },
  { collection: "deliveries", by: "projectId", asks: "deliveries of a project", often: "each list" },
  { collection: "deliveries", by: "runId", asks: "deliveries of a run", often: "each list; retention" },
  { collection: "ended_attempts", by: "_id", asks: "all attempts in order", often: rarely },
  { collection: "events", by: "runId", asks: "the runs that have events", often: rarely },
  { collection: "idempotency", by: "body.at", asks: "old request ids", often: retention },
  {
    collection: "inbox",
    by: "shard",
    asks: "which shards of the mailboxes have commands",
    often: "each worker, each second",
  },
  { collection: "inbox", by: "_id", asks: "the verdict on an order to a run", often: "each order" },
  { collection: "inbox", by: "rootId", asks: "runs that have commands", often: rarely },
  { collection: "inbox", by: "answered", asks: "runs that have commands", often: rarely },
  {
    collection: "job_runs",
    by: "agentId",
    asks: "jobs of agents",
    often: "every 20 ms at most, for all heartbeats of a gateway",
  },
  { collection: "job_runs", by: "shard", asks: "jobs that wait or are bound", often: "each worker, each 30 s" },
  { collection: "job_runs", by: "deployment.environment", asks: "lists of deployments", often: "each list" },
  { collection: "job_runs", by: "_id", asks: "all jobs in order", often: rarely },
  { collection: "job_runs", by: null, asks: "all jobs", often: rarely },
  { collection: "log_chunks", by: "stepRunId", asks: "steps that have logs", often: rarely },
  { collection: "log_heads", by: "_id", asks: "all logs in order", often: rarely },
  { collection: "removals", by: "done", asks: "removals that are not finished, and old ones", often: "each 10 s" },
  { collection: "removals", by: null, asks: "all removals", often: rarely },
  { collection: "step_notes", by: "stepRunId", asks: "steps that have notes", often: rarely },
  { collection: "step_notes", by: "_id", asks: "all notes in order", often: rarely },
  {
    collection: "step_outputs",
    by: "runId",
    asks: "the bytes of a run's outputs",
    often: "each step with outputs; retention",
  },
  { collection: "step_outputs", by: "stepRunId", asks: "steps that have outputs", often: rarely },
  { collection: "step_outputs", by: "_id", asks: "all outputs in order", often: rarely },
  {
    collection: "step_runs",
    by: "agentId",
    asks: "steps of agents",
    often: "every 20 ms at most, for all heartbeats of a gateway",
  },
  { collection: "step_runs", by: "_id", asks: "all steps in order", often: rarely },
  { collection: "step_runs", by: null, asks: "all steps", often: rarely },
  { collection: "upload_uses", by: "runId", asks: "the uploads of a run", often: retention },
];

export type ShardedName = keyof typeof SHARD_KEYS;

/** A new collection needs an entry in one of the tables. */
export type CollectionName = ShardedName | keyof typeof UNSHARDED;

/** The field that a query of a collection names, so that it does not go to all shards. */
export function shardKeyOf(collection: string): string {
  return (SHARD_KEYS as Readonly<Record<string, string>>)[collection] ?? "_id";
}
