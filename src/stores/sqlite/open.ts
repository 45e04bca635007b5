/** Opens the embedded store: one SQLite file, and a folder of blobs beside it. */
import { dirname, join } from "node:path";
import type { ColdChunks } from "../format/cold-chunks.ts";
import type { Stores } from "../ports/stores.ts";
import { agentEventStore } from "./agent-events.ts";
import { SqliteAggregateStore } from "./aggregates.ts";
import { artifactStore } from "./artifacts.ts";
import { auditStore } from "./audit.ts";
import { fileBlobStore } from "./blobs.ts";
import { cacheStore } from "./caches.ts";
import { Database, type DatabaseOptions } from "./database.ts";
import { deliveryStore } from "./deliveries.ts";
import { hookStore } from "../hooks/sqlite-hooks.ts";
import { inspectionStore } from "./inspection.ts";
import { loginStore } from "./logins.ts";
import { SqliteLogStore } from "./logs.ts";
import { deploymentStore } from "./runs/deployments.ts";
import { noteStore } from "./runs/notes.ts";
import { outputStore } from "./runs/outputs.ts";
import { runImageStore } from "./runs/run-images.ts";
import { pipelineDeletionStore } from "./deletions.ts";
import { pluginStore } from "./plugins.ts";
import { identityStore, SqlitePipelineStore } from "./records.ts";
import { removalStore } from "./removals.ts";
import { reshard } from "./reshard.ts";
import { retentionStore } from "./retention.ts";
import { documentStore, rightsStore } from "./rights.ts";
import { runRemoval } from "./run-removal.ts";
import { deadLetterStore, eventStore, idempotencyStore, inboxStore, planStore, shardStore } from "./runtime.ts";
import { statisticsStore } from "./runs/statistics.ts";
import { testHistoryStore } from "./runs/test-histories.ts";
import { secretStore } from "./secrets.ts";
import { systemEventStore } from "./system-events.ts";
import { uploadStore } from "./uploads.ts";

/** The maximum size, `limitBytes`, does not include the write-ahead log. */
export interface SqliteOptions extends DatabaseOptions {
  readonly path: string;
  /** Reads the lines of logs that are in an object storage. Absent: they cannot be read. */
  readonly cold?: ColdChunks;
}

/**
 * Opens or creates the file. Rejects with `unavailable`, and says what to do, when it cannot. While the store is full,
 * writes reject with `unavailable`, and reads still work.
 */
export async function openSqliteStores({ path, cold, ...options }: SqliteOptions): Promise<Stores> {
  const db = new Database(path, options);
  return {
    // Each actor is a row of its own.
    snapshotBytes: null,
    aggregates: new SqliteAggregateStore(db),
    deployments: deploymentStore(db),
    plans: planStore(db),
    inbox: inboxStore(db),
    events: eventStore(db, agentEventStore(db)),
    agentEvents: agentEventStore(db),
    logs: new SqliteLogStore(db, cold),
    outputs: outputStore(db),
    notes: noteStore(db),
    runImages: runImageStore(db),
    artifacts: artifactStore(db),
    caches: cacheStore(db),
    uploads: uploadStore(db),
    blobs: fileBlobStore(join(dirname(path), "blobs")),
    plugins: pluginStore(db),
    shards: shardStore(db),
    deadLetters: deadLetterStore(db),
    pipelines: new SqlitePipelineStore(db),
    pipelineDeletions: pipelineDeletionStore(db),
    identity: identityStore(db),
    rights: rightsStore(db),
    documents: documentStore(db),
    deliveries: deliveryStore(db),
    hooks: hookStore(db),
    logins: loginStore(db),
    secrets: secretStore(db),
    statistics: statisticsStore(db),
    testHistories: testHistoryStore(db),
    systemEvents: systemEventStore(db),
    audit: auditStore(db),
    idempotency: idempotencyStore(db),
    removeRun: runRemoval(db),
    reshard: reshard(db),
    removals: removalStore(db),
    retention: retentionStore(db),
    inspection: inspectionStore(db),
    async ping() {
      await db.get("SELECT 1 AS ok");
    },
    async probe() {
      await db.get("SELECT 1 AS ok");
    },
    close: () => db.close(),
  };
}
