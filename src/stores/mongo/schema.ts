/**
 * The shape of the database, as a list of migrations. Each migration is applied in order and never changes. Nodes of
 * the previous version may use the database meanwhile, so a migration only adds what does not disturb them:
 * collections, indexes and fields that they ignore. What only the previous version uses is removed by a later version.
 */
import { type IndexDescription, MongoServerError } from "mongodb";
import { derivedSlug, distinctSlug, slugPartOf } from "../../domain/names.ts";
import type { Connection } from "./connection.ts";
import { DEPLOYMENT_INDEXES } from "./runs/deployments.ts";
import type { CollectionName } from "./cluster/sharding.ts";

/** Source: https://github.com/mongodb/mongo/blob/master/src/mongo/base/error_codes.yml */
const INDEX_NOT_FOUND = 27;

/** Must be idempotent: it runs again when a node is killed during it, or when two nodes start at once. */
export type Migration = (connection: Connection) => Promise<void>;

const INDEXES: Readonly<Partial<Record<CollectionName, readonly IndexDescription[]>>> = {
  aggregates: [
    { key: { shard: 1, owes: 1, _id: 1 } },
    { key: { shard: 1, nextDueAt: 1, _id: 1 } },
    { key: { shard: 1, settled: 1, "summary.bound": 1, _id: 1 } },
    // These contain all fields that lists filter by, so that only the documents of the page, which may have many
    // actors, are read.
    { key: { "summary.pipelineId": 1, "summary.createdAt": 1, _id: 1, "summary.status": 1 } },
    { key: { "summary.createdAt": 1, _id: 1, "summary.projectId": 1, "summary.status": 1 } },
  ],
  job_runs: [{ key: { agentId: 1, _id: 1 } }, { key: { shard: 1, bound: 1, _id: 1 } }],
  step_runs: [{ key: { agentId: 1, _id: 1 } }],
  inbox: [{ key: { shard: 1, answered: 1, rootId: 1 } }, { key: { rootId: 1, answered: 1, seq: 1 } }],
  events: [{ key: { runId: 1, number: 1 } }],
  log_chunks: [{ key: { stepRunId: 1, last: 1, first: 1 } }],
  dead_letters: [{ key: { at: 1, _id: 1 } }],
  pipelines: [
    { key: { projectId: 1, name: 1 }, unique: true },
    { key: { headRevisionId: 1 } },
    { key: { createdAt: 1, _id: 1 } },
    { key: { name: 1, _id: 1 } },
  ],
  revisions: [{ key: { pipelineId: 1 } }],
  users: [{ key: { name: 1 }, unique: true }],
  tokens: [{ key: { kind: 1, subject: 1, createdAt: 1, _id: 1 } }],
  agents: [{ key: { name: 1 }, unique: true }],
};

export const MIGRATIONS: readonly Migration[] = [
  async (connection) => {
    for (const [collection, indexes] of Object.entries(INDEXES)) {
      await connection.collection(collection as CollectionName).createIndexes([...indexes]);
    }
  },
  async (connection) => {
    await connection.collection("step_outputs").createIndex({ runId: 1 });
  },
  async (connection) => {
    await connection
      .collection("approvals")
      .createIndexes([
        { key: { status: 1, "approval.requestedAt": 1, _id: 1, "approval.projectId": 1 } },
        { key: { "approval.pipelineId": 1, status: 1, "approval.requestedAt": 1, _id: 1 } },
      ]);
  },
  async (connection) => {
    await connection.collection("job_runs").createIndex({ shard: 1, status: 1, _id: 1 });
  },
  async (connection) => {
    await connection.collection("step_outputs").createIndex({ runId: 1, bytes: 1 });
  },
  async (connection) => {
    await connection.collection("agent_events").createIndex({ owner: 1, receivedAt: 1, _id: 1 });
  },
  async (connection) => {
    await connection
      .collection("secrets")
      .createIndexes([{ key: { projectId: 1, pipelineId: 1, name: 1 } }, { key: { pipelineId: 1 } }]);
  },
  async (connection) => {
    await connection
      .collection("artifacts")
      .createIndexes([
        { key: { runId: 1, createdAt: 1, _id: 1 } },
        { key: { stepRunId: 1 } },
        { key: { expiresAt: 1, _id: 1 } },
      ]);
    await connection.collection("blobs.chunks").createIndex({ files_id: 1, n: 1 }, { unique: true });
  },
  async (connection) => {
    await connection
      .collection("plugins")
      .createIndexes([{ key: { name: 1, createdAt: 1 } }, { key: { packageId: 1 }, unique: true }]);
  },
  async (connection) => {
    await connection
      .collection("aggregates")
      .createIndexes([
        { key: { "summary.pipelineId": 1, logsGone: 1, "summary.createdAt": 1, _id: 1 } },
        { key: { "summary.pipelineId": 1, artifactsGone: 1, "summary.createdAt": 1, _id: 1 } },
        { key: { "summary.pipelineId": 1, eventsGone: 1, "summary.createdAt": 1, _id: 1 } },
        { key: { "summary.projectId": 1, "summary.createdAt": 1, _id: 1 } },
      ]);
    await connection.collection("idempotency").createIndex({ "body.at": 1, "body.bodyHash": 1 });
    await connection.collection("removals").createIndex({ done: 1, isRepeat: 1, at: 1 });
  },
  async (connection) => {
    await connection
      .collection("caches")
      .createIndexes([
        { key: { projectId: 1, version: 1, createdAt: -1 } },
        { key: { projectId: 1, usedAt: 1 } },
        { key: { expiresAt: 1, _id: 1 } },
      ]);
  },
  async (connection) => {
    await connection.collection("projects").createIndex({ "body.name": 1 }, { unique: true });
  },
  async (connection) => {
    await connection.collection("ended_attempts").createIndex({ rootId: 1, _id: 1 });
  },
  async (connection) => {
    await connection
      .collection("sessions")
      .createIndexes([{ key: { userId: 1, createdAt: 1, _id: 1 } }, { key: { expiresAt: 1 } }]);
    await connection
      .collection("vouchers")
      .createIndexes([
        { key: { alias: 1 }, unique: true },
        { key: { subject: 1, kind: 1 } },
        { key: { expiresAt: 1 } },
        { key: { kind: 1, expiresAt: 1 } },
      ]);
    await connection.collection("identities").createIndex({ userId: 1 });
  },
  async (connection) => {
    await connection
      .collection("aggregates")
      .createIndex({ "summary.pipelineId": 1, "summary.status": 1, "summary.createdAt": 1, _id: 1 });
  },
  async (connection) => {
    await connection.collection("tenants").createIndex({ "body.name": 1 }, { unique: true });
    await connection.collection("teams").createIndex({ tenantId: 1, name: 1 }, { unique: true });
    await connection.collection("team_members").createIndexes([{ key: { userId: 1 } }, { key: { teamId: 1 } }]);
    await connection
      .collection("bindings")
      .createIndexes([{ key: { subjectId: 1 } }, { key: { area: 1, areaId: 1, subjectId: 1 } }]);
    await connection.collection("users").createIndex({ "body.ownedBy": 1, createdAt: 1 });
    // The names of projects are unique in their tenant, and no longer in the installation.
    const projects = connection.collection("projects");
    await projects.updateMany({ "body.tenantId": { $exists: false } }, { $set: { "body.tenantId": "default" } });
    await projects.createIndex({ "body.tenantId": 1, "body.name": 1 }, { unique: true });
    const names = (await projects.indexes()).filter(({ key }) => JSON.stringify(key) === '{"body.name":1}');
    for (const { name } of names) if (name !== undefined) await projects.dropIndex(name).catch(ignoreMissing);
  },
  async (connection) => {
    const newest = { "summary.createdAt": 1, _id: 1 } as const;
    await connection
      .collection("aggregates")
      .createIndexes([
        { key: { "origin.triggeredBy": 1, ...newest } },
        { key: { "origin.trigger.ref": 1, ...newest } },
        { key: { "origin.trigger.kind": 1, ...newest } },
        { key: { "summary.projectId": 1, "summary.status": 1, ...newest } },
        { key: { "summary.status": 1, ...newest } },
      ]);
  },
  async (connection) => {
    await connection
      .collection("statistics")
      .createIndexes([{ key: { pipelineId: 1, day: 1, job: 1 } }, { key: { day: 1 } }]);
    await connection.collection("failing_revisions").createIndex({ pipelineId: 1 });
    await connection.collection("aggregates").createIndex({ final: 1, counted: 1, "summary.endedAt": 1, _id: 1 });
  },
  async (connection) => {
    await connection
      .collection("uploads")
      .createIndexes([{ key: { projectId: 1, createdAt: 1, _id: 1 } }, { key: { expiresAt: 1, _id: 1 } }]);
    await connection.collection("upload_uses").createIndexes([{ key: { uploadId: 1, at: 1 } }, { key: { runId: 1 } }]);
  },
  async (connection) => {
    await connection.collection("revisions").createIndex({ pipelineId: 1, _id: -1 });
  },
  async (connection) => {
    const time = { at: 1, _id: 1 } as const;
    await connection.collection("audit").createIndexes([
      { key: time },
      ...["tenantId", "projectId", "actorId", "operation", "objectId", "outcome"].map((field) => ({
        key: { [field]: 1 as const, ...time },
      })),
    ]);
  },
  async (connection) => {
    await connection
      .collection("deliveries")
      .createIndexes([
        { key: { state: 1, lane: 1, dueAt: 1, runId: 1, number: 1 } },
        { key: { lane: 1, runId: 1, state: 1, number: 1 } },
        { key: { lane: 1, createdAt: 1, _id: 1 } },
        { key: { projectId: 1 } },
        { key: { state: 1, dueAt: 1 } },
      ]);
    await connection.collection("aggregates").createIndex({ "summary.projectId": 1, untold: 1 });
  },
  async (connection) => {
    await connection
      .collection("step_notes")
      .createIndexes([{ key: { runId: 1, kind: 1, bytes: 1 } }, { key: { stepRunId: 1 } }]);
  },
  async (connection) => {
    await giveSlugs(connection, "tenants", "tenant", () => "");
    await giveSlugs(connection, "projects", "project", ({ tenantId = "default" }) => tenantId);
    // Nodes of the previous version make tenants and projects without slugs.
    const partialFilterExpression = { slug: { $exists: true } };
    await connection.collection("tenants").createIndex({ slug: 1 }, { unique: true, partialFilterExpression });
    await connection
      .collection("projects")
      .createIndex({ "body.tenantId": 1, slug: 1 }, { unique: true, partialFilterExpression });
  },
  // For lists that are sorted and filtered at once.
  async (connection) => {
    await connection
      .collection("pipelines")
      .createIndexes([{ key: { projectId: 1, createdAt: 1, _id: 1 } }, { key: { projectId: 1, name: 1, _id: 1 } }]);
    await connection
      .collection("approvals")
      .createIndex({ "approval.projectId": 1, status: 1, "approval.requestedAt": 1, _id: 1 });
    await connection.collection("caches").createIndex({ projectId: 1, usedAt: -1, _id: 1 });
    await connection.collection("users").createIndex({ createdAt: 1, _id: 1 });
    await connection.collection("identities").createIndex({ userId: 1, issuer: 1, subject: 1 });
    await connection.collection("deliveries").createIndex({ lane: 1, state: 1, createdAt: 1, _id: 1 });
  },
  async (connection) => {
    await connection
      .collection("deliveries")
      .createIndexes([{ key: { runId: 1, createdAt: 1, _id: 1 } }, { key: { projectId: 1, createdAt: 1, _id: 1 } }]);
  },
  async (connection) => {
    await connection
      .collection("owned_plugins")
      .createIndexes([
        { key: { owner: 1, name: 1, createdAt: 1 } },
        { key: { owner: 1, sizeBytes: 1 } },
        { key: { packageId: 1 }, unique: true },
      ]);
  },
  async (connection) => {
    await connection.collection("system_events").createIndex({ log: 1, number: 1 }, { unique: true });
    // Of entries whose event is not in its log yet.
    await connection.collection("audit").createIndex({ owedAt: 1 }, { sparse: true });
  },
  // Events of agents about themselves have no place.
  async (connection) => {
    await connection.collection("agent_events").createIndex({ place: 1 }, { unique: true, sparse: true });
  },
  async (connection) => {
    await connection.collection("log_joinings").createIndex({ dueAt: 1 });
  },
  async (connection) => {
    await connection
      .collection("test_histories")
      .createIndexes([
        { key: { pipelineId: 1, flaky: 1, testId: 1 } },
        { key: { pipelineId: 1, failing: 1, testId: 1 } },
        { key: { pipelineId: 1, meanMs: 1, testId: 1 } },
        { key: { pipelineId: 1, seenAt: 1, testId: 1 } },
        { key: { seenAt: 1 } },
      ]);
  },
  async (connection) => {
    await connection
      .collection("hooks")
      .createIndexes([{ key: { projectId: 1, name: 1 }, unique: true }, { key: { projectId: 1, _id: 1 } }]);
    await connection
      .collection("hook_deliveries")
      .createIndexes([
        { key: { hookId: 1, senderId: 1 }, unique: true },
        { key: { state: 1, hookId: 1, receivedAt: 1, _id: 1, dueAt: 1 } },
        { key: { hookId: 1, receivedAt: 1, _id: 1 } },
        { key: { projectId: 1 } },
        { key: { state: 1, dueAt: 1 } },
      ]);
  },
  async (connection) => {
    const partialFilterExpression = { "deployment.environment": { $exists: true } };
    await connection
      .collection("job_runs")
      .createIndexes(Object.values(DEPLOYMENT_INDEXES).map((key) => ({ key, partialFilterExpression })));
  },
  // For lists of deliveries that are filtered.
  async (connection) => {
    await connection
      .collection("deliveries")
      .createIndexes([
        { key: { lane: 1, runId: 1, createdAt: 1, _id: 1 } },
        { key: { projectId: 1, state: 1, createdAt: 1, _id: 1 } },
      ]);
  },
  async (connection) => {
    await connection.collection("caches").createIndex({ projectId: 1, version: 1, createdAt: -1, _id: 1 });
    await connection.collection("tokens").createIndex({ "body.expiresAt": 1 });
  },
];

/**
 * Gives each record of a collection the slug that follows from its name. Of several records with one slug the first keeps it;
 * the others end in their ids. Another node that does the same at the same time comes to the same slugs.
 */
async function giveSlugs(
  connection: Connection,
  collection: CollectionName,
  fallback: string,
  scopeOf: (body: SluggedBody) => string,
): Promise<void> {
  const records = connection.collection<{ readonly _id: string; readonly body: SluggedBody }>(collection);
  const stored = await records.find().sort({ _id: 1 }).toArray();
  const keyOf = (body: SluggedBody, slug: string) => `${scopeOf(body)}/${slug}`;
  const taken = new Set(stored.flatMap(({ body }) => (body.slug === undefined ? [] : [keyOf(body, body.slug)])));
  for (const { _id, body } of stored) {
    if (body.slug !== undefined) continue;
    // The default tenant and project have their ids as slugs, whatever their names are.
    const derived = _id === "default" ? _id : derivedSlug(body.name, fallback);
    const isFree = derived === _id || (derived !== "default" && !taken.has(keyOf(body, derived)));
    const slug = isFree ? derived : distinctSlug(derived, slugPartOf(_id));
    taken.add(keyOf(body, slug));
    await records.updateOne({ _id, slug: { $exists: false } }, { $set: { slug, "body.slug": slug } });
  }
}

interface SluggedBody {
  readonly name: string;
  readonly tenantId?: string;
  readonly slug?: string;
}

/** Another node that starts at the same time may have dropped the index first. */
function ignoreMissing(error: unknown): void {
  if (!(error instanceof MongoServerError && error.code === INDEX_NOT_FOUND)) throw error;
}
