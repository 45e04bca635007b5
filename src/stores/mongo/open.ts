/** Opens the scale-out store: a MongoDB database. */
import type { ColdChunks } from "../format/cold-chunks.ts";
import type { Stores } from "../ports/stores.ts";
import { agentEventStore } from "./agent-events.ts";
import { MongoAggregateStore } from "./aggregates.ts";
import { auditStore } from "./audit.ts";
import { SNAPSHOT_BYTES } from "./packed-snapshots.ts";
import { artifactStore } from "./artifacts.ts";
import { gridBlobStore } from "./blobs.ts";
import { cacheStore } from "./caches.ts";
import { Connection, type MongoOptions, translated, translateFault } from "./connection.ts";
import { deliveryStore } from "./deliveries.ts";
import { hookStore } from "../hooks/mongo-hooks.ts";
import { documentStore } from "./documents.ts";
import { inspectionStore } from "./inspection.ts";
import { loginStore } from "./logins.ts";
import { MongoLogStore } from "./logs.ts";
import { migrate, refuseOther } from "./migrate.ts";
import { deploymentStore } from "./runs/deployments.ts";
import { noteStore } from "./runs/notes.ts";
import { outputStore } from "./runs/outputs.ts";
import { runImageStore } from "./runs/run-images.ts";
import { pipelineDeletionStore } from "./deletions.ts";
import { pluginStore } from "./plugins.ts";
import { identityStore, MongoPipelineStore } from "./records.ts";
import { removalStore } from "./removals.ts";
import { reshard } from "./reshard.ts";
import { retentionStore } from "./retention.ts";
import { rightsStore } from "./rights.ts";
import { runRemoval } from "./run-removal.ts";
import { deadLetterStore, eventStore, idempotencyStore, inboxStore, planStore, shardStore } from "./runtime.ts";
import { MIGRATIONS } from "./schema.ts";
import { secretStore } from "./secrets.ts";
import { statisticsStore } from "./runs/statistics.ts";
import { testHistoryStore } from "./runs/test-histories.ts";
import { systemEventStore } from "./system-events.ts";
import { uploadStore } from "./uploads.ts";

/**
 * Connects to the server and migrates the database. Rejects with `unavailable`, and says what to do, when it cannot,
 * and for a database that a newer version has written. Calls of the stores reject with `unavailable` within about 15 s
 * while the server cannot be reached or hangs, and within a minute or two when only the connection of the call has failed
 * without being closed; what such a call writes may be stored all the same. `cold` reads the lines of logs that are in an
 * object storage; without it they cannot be read.
 */
export async function openMongoStores(options: MongoOptions, cold?: ColdChunks): Promise<Stores> {
  const connection = await openMigrated(options);
  return {
    snapshotBytes: SNAPSHOT_BYTES,
    aggregates: translated(new MongoAggregateStore(connection)),
    deployments: translated(deploymentStore(connection)),
    plans: translated(planStore(connection)),
    inbox: translated(inboxStore(connection)),
    events: translated(eventStore(connection, agentEventStore(connection))),
    agentEvents: translated(agentEventStore(connection)),
    logs: translated(new MongoLogStore(connection, cold)),
    outputs: translated(outputStore(connection)),
    notes: translated(noteStore(connection)),
    runImages: translated(runImageStore(connection)),
    artifacts: translated(artifactStore(connection)),
    caches: translated(cacheStore(connection)),
    uploads: translated(uploadStore(connection)),
    blobs: translated(gridBlobStore(connection)),
    plugins: translated(pluginStore(connection)),
    shards: translated(shardStore(connection)),
    deadLetters: translated(deadLetterStore(connection)),
    pipelines: translated(new MongoPipelineStore(connection)),
    pipelineDeletions: translated(pipelineDeletionStore(connection)),
    identity: translated(identityStore(connection)),
    rights: translated(rightsStore(connection)),
    documents: translated(documentStore(connection)),
    deliveries: translated(deliveryStore(connection)),
    hooks: translated(hookStore(connection)),
    logins: translated(loginStore(connection)),
    secrets: translated(secretStore(connection)),
    statistics: translated(statisticsStore(connection)),
    testHistories: translated(testHistoryStore(connection)),
    systemEvents: translated(systemEventStore(connection)),
    audit: translated(auditStore(connection)),
    idempotency: translated(idempotencyStore(connection)),
    removeRun: translated({ removeRun: runRemoval(connection) }).removeRun,
    reshard: translated({ reshard: reshard(connection) }).reshard,
    removals: translated(removalStore(connection)),
    retention: translated(retentionStore(connection)),
    inspection: translated(inspectionStore(connection)),
    ping: () => translated(connection).ping(),
    probe: () => translated(connection).probe(),
    close: () => connection.close(),
  };
}

async function openMigrated(options: MongoOptions): Promise<Connection> {
  const connection = await Connection.open(options);
  try {
    if (options.readOnly === true) await refuseOther(connection, MIGRATIONS.length);
    else await migrate(connection, MIGRATIONS, () => Connection.open({ ...options, answerTimeoutMs: 0 }));
    return connection;
  } catch (error) {
    await connection.close();
    throw translateFault(error);
  }
}
