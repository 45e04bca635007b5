import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { expect } from "chai";
import { MongoClient } from "mongodb";
import { MillraceError } from "../../src/domain/errors.ts";
import { asId, type JobRunId, newId, type StepRunId } from "../../src/domain/ids.ts";
import { Connection } from "../../src/stores/mongo/connection.ts";
import { ColdChunks } from "../../src/stores/format/cold-chunks.ts";
import { openMongoStores } from "../../src/stores/mongo/open.ts";
import { ReadModels } from "../../src/stores/mongo/read-models.ts";
import { MIGRATIONS } from "../../src/stores/mongo/schema.ts";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";
import { jobSpecsOf, planOf } from "../support/plans.ts";
import { openTestSqlite } from "../support/stores.ts";
import { until } from "../support/until.ts";
import { agentEventStoreContract } from "./agent-event-store.ts";
import { artifactStoreContract } from "./artifact-store.ts";
import { auditStoreContract } from "./audit-store.ts";
import { blobStoreContract } from "./blob-store.ts";
import { coldLogContract } from "./cold-logs.ts";
import { cacheStoreContract } from "./cache-store.ts";
import { conditionalChangesContract } from "./conditional-changes.ts";
import { aggregateStoreContract } from "./aggregate-store.ts";
import { statisticsContract } from "./statistics.ts";
import { testHistoryStoreContract } from "./test-history-store.ts";
import { runSearchContract } from "./run-search.ts";
import { largeAggregateContract } from "./large-aggregates.ts";
import { endedAttemptsContract } from "./ended-attempts.ts";
import { identityStoreContract } from "./identity-store.ts";
import { operationStoresContract } from "./operation-stores.ts";
import { logJoiningContract } from "./log-joining.ts";
import { loginStoreContract } from "./login-store.ts";
import { mongoQueriesContract } from "./mongo/queries.ts";
import { QueryWatch } from "./mongo/query-watch.ts";
import { noteStoreContract } from "./note-store.ts";
import { outputStoreContract } from "./output-store.ts";
import { deliveryStoreContract } from "./delivery-store.ts";
import { hookStoreContract } from "./hook-store.ts";
import { deploymentsContract } from "./deployments.ts";
import { documentStoreContract } from "./document-store.ts";
import { areaDeletionStoreContract, pipelineDeletionStoreContract } from "./deletion-stores.ts";
import { pluginStoreContract } from "./plugin-store.ts";
import { recordStoresContract } from "./record-stores.ts";
import { reshardContract } from "./reshard.ts";
import { listPagesContract } from "./list-pages.ts";
import { rightsStoreContract } from "./rights-store.ts";
import { retentionStoreContract } from "./retention-store.ts";
import { runImageStoreContract } from "./run-images.ts";
import { packedRecordsContract } from "./packed-records.ts";
import { FEW, leftOf, runRemovalContract, storeWhole } from "./run-removal.ts";
import { secretStoreContract } from "./secret-store.ts";
import { sqliteScansContract, StatementWatch } from "./sqlite/scans.ts";
import { systemEventStoreContract } from "./system-event-store.ts";
import { watchMongo, watchSqlite } from "./watched-writes.ts";
import { uploadStoreContract } from "./upload-store.ts";
import { actorOf, sampleAggregate, sampleApproval, saveOf, withIndex } from "./samples.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";

describe("the store on SQLite", () => {
  let opened: Awaited<ReturnType<typeof openTestSqlite>>;
  let watch: StatementWatch;
  const cold = new ColdChunks();
  before(async () => {
    watch = new StatementWatch();
    opened = await openTestSqlite(cold);
  });
  after(async () => {
    watch.end();
    await opened.close();
  });

  aggregateStoreContract(() => opened.stores);
  largeAggregateContract(() => opened.stores);
  runSearchContract(() => opened.stores);
  deploymentsContract(() => opened.stores);
  statisticsContract(() => opened.stores);
  testHistoryStoreContract(() => opened.stores);
  recordStoresContract(() => opened.stores);
  packedRecordsContract(() => opened.stores);
  logJoiningContract(() => opened.stores, watchSqlite);
  coldLogContract(() => opened.stores, cold, watchSqlite);
  identityStoreContract(() => opened.stores);
  rightsStoreContract(() => opened.stores);
  listPagesContract(() => opened.stores);
  conditionalChangesContract(() => opened.stores);
  documentStoreContract(() => opened.stores);
  deliveryStoreContract(() => opened.stores);
  hookStoreContract(() => opened.stores);
  loginStoreContract(() => opened.stores);
  operationStoresContract(() => opened.stores);
  outputStoreContract(() => opened.stores);
  noteStoreContract(() => opened.stores);
  endedAttemptsContract(() => opened.stores);
  runImageStoreContract(() => opened.stores);
  runRemovalContract(() => opened.stores);
  agentEventStoreContract(() => opened.stores);
  auditStoreContract(() => opened.stores);
  systemEventStoreContract(() => opened.stores);
  secretStoreContract(() => opened.stores);
  artifactStoreContract(() => opened.stores);
  blobStoreContract(() => opened.stores);
  pluginStoreContract(() => opened.stores);
  retentionStoreContract(() => opened.stores);
  cacheStoreContract(() => opened.stores);
  uploadStoreContract(() => opened.stores);
  pipelineDeletionStoreContract(() => opened.stores);
  areaDeletionStoreContract(() => opened.stores);
  reshardContract(() => opened.stores);
  sqliteScansContract(() => ({ watch, path: opened.path }));

  it("keeps everything when it is opened again, also twice at the same time", async () => {
    const aggregate = sampleAggregate();
    await opened.stores.aggregates.create(aggregate);
    const other = await openSqliteStores({ path: opened.path });
    const [one, two] = await Promise.all([
      opened.stores.aggregates.save(saveOf(aggregate)),
      other.aggregates.save(saveOf(aggregate)),
    ]);
    expect([one, two].toSorted()).to.deep.equal(["saved", "versionConflict"]);
    expect((await other.aggregates.loadHead(aggregate.head.rootId))!.version).to.equal(2);
    await other.close();
  });

  it("is not queried for outputs without keys", async () => {
    const closed = await openSqliteStores({ path: opened.path });
    await closed.close();
    const asked = await closed.outputs.find([{ stepRunId: newId("step"), token: 1 }]).catch((error: unknown) => error);
    expect(asked, "a closed store cannot be asked").to.be.instanceOf(Error);
    expect(await closed.outputs.find([])).to.deep.equal([]);
  });

  it("refuses a file that a newer version has written", async () => {
    const newer = await openTestSqlite();
    await newer.stores.close();
    const file = new SqliteConnection(newer.path);
    file.pragma("user_version = 99");
    file.close();
    const error = await openSqliteStores({ path: newer.path }).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(MillraceError).with.property("message").that.includes("newer version");
    await newer.close();
  });

  it("says what is wrong with a path that cannot be used", async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-path-"));
    try {
      await writeFile(join(folder, "file"), "");
      await mkdir(join(folder, "folder"));
      await writeFile(join(folder, "text"), "no database at all, and long enough to be read as one".repeat(20));
      for (const [path, words] of [
        ["file/millrace.db", "cannot be made"],
        ["folder", "is a folder"],
        ["text", "is not a database of millrace"],
      ] as const) {
        const error = await openSqliteStores({ path: join(folder, path) }).catch((caught: unknown) => caught);
        expect(error, path).to.be.instanceOf(MillraceError).with.property("message").that.includes(words);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe("the store on MongoDB", function () {
  this.timeout(60_000);
  const database = freshDatabase();
  const cold = new ColdChunks();
  let stores: Stores;
  let url: string;
  let client: MongoClient;
  let watch: QueryWatch;
  before(async () => {
    ({ url } = await startTestMongo());
    watch = new QueryWatch();
    stores = await openMongoStores({ url, database }, cold);
    client = await MongoClient.connect(url);
  });
  after(async () => {
    watch?.end();
    await client?.close();
    await stores?.close();
  });
  const documents = (name: string) => client.db(database).collection<{ _id: string }>(name);

  aggregateStoreContract(() => stores);
  largeAggregateContract(() => stores);
  runSearchContract(() => stores);
  deploymentsContract(() => stores);
  statisticsContract(() => stores);
  testHistoryStoreContract(() => stores);
  recordStoresContract(() => stores);
  packedRecordsContract(() => stores);
  logJoiningContract(() => stores, watchMongo);
  coldLogContract(() => stores, cold, watchMongo);
  identityStoreContract(() => stores);
  rightsStoreContract(() => stores);
  listPagesContract(() => stores);
  conditionalChangesContract(() => stores);
  documentStoreContract(() => stores);
  deliveryStoreContract(() => stores);
  hookStoreContract(() => stores);
  loginStoreContract(() => stores);
  operationStoresContract(() => stores);
  outputStoreContract(() => stores);
  noteStoreContract(() => stores);
  endedAttemptsContract(() => stores);
  runImageStoreContract(() => stores);
  runRemovalContract(() => stores);
  agentEventStoreContract(() => stores);
  auditStoreContract(() => stores);
  systemEventStoreContract(() => stores);
  secretStoreContract(() => stores);
  artifactStoreContract(() => stores);
  blobStoreContract(() => stores);
  pluginStoreContract(() => stores);
  retentionStoreContract(() => stores);
  cacheStoreContract(() => stores);
  uploadStoreContract(() => stores);
  pipelineDeletionStoreContract(() => stores);
  areaDeletionStoreContract(() => stores);
  reshardContract(() => stores);

  it("repairs look-ups after a save that was cut off before it wrote them", async () => {
    const agentId = newId("agt");
    const aggregate = sampleAggregate();
    await stores.aggregates.create(aggregate);
    const step = withIndex(actorOf(aggregate, "step"), { agentId, status: "running" });
    await documents("aggregates").updateOne(
      { _id: aggregate.head.rootId },
      { $set: { version: 2, changed: [step.id], [`actors.${step.id}`]: step } },
    );
    expect(await stores.aggregates.stepsHeldBy(agentId)).to.deep.equal([]);
    await stores.aggregates.load(aggregate.head.rootId);
    expect((await stores.aggregates.stepsHeldBy(agentId)).map(({ stepRunId }) => stepRunId)).to.deep.equal([step.id]);
  });

  it("repairs the list of approvals after a save that was cut off", async () => {
    const aggregate = sampleAggregate({ pipelineId: newId("pl") });
    await stores.aggregates.create(aggregate);
    const approval = sampleApproval(aggregate, { stage: 0 }, 5);
    await documents("aggregates").updateOne(
      { _id: aggregate.head.rootId },
      { $set: { version: 2, changed: [approval.id], [`actors.${approval.id}`]: approval } },
    );
    const { pipelineId } = aggregate.head.summary;
    const listed = () =>
      stores.aggregates.listApprovals({ status: "pending", pipelineId }, { page: 1, pageSize: 10, descending: true });
    expect((await listed()).total).to.equal(0);
    await stores.aggregates.load(aggregate.head.rootId);
    expect((await listed()).list).to.deep.equal([{ runId: aggregate.head.rootId, actor: approval }]);
  });

  it("repairs look-ups after a creation that was cut off before it wrote them all", async () => {
    const aggregate = sampleAggregate();
    await stores.aggregates.create(aggregate);
    const [job, step] = [actorOf(aggregate, "job"), actorOf(aggregate, "step", 1)];
    await documents("job_runs").deleteOne({ _id: job.id });
    await documents("step_runs").deleteOne({ _id: step.id });
    await stores.aggregates.load(aggregate.head.rootId);
    expect((await stores.aggregates.findJob(asId<JobRunId>(job.id)))!.actor).to.deep.equal(job);
    expect((await stores.aggregates.findStep(asId<StepRunId>(step.id)))!.actor).to.deep.equal(step);
  });

  it("does not let an older save replace the look-ups of a newer one", async () => {
    const aggregate = sampleAggregate();
    await stores.aggregates.create(aggregate);
    const step = actorOf(aggregate, "step");
    const queued = saveOf(aggregate, {}, [withIndex(step, { status: "queued" })]);
    const running = saveOf(queued, {}, [withIndex(step, { status: "running" })]);
    await stores.aggregates.save(queued);
    await stores.aggregates.save(running);
    const connection = await Connection.open({ url, database });
    await new ReadModels(connection).write(queued.head, queued.changed);
    await connection.close();
    const found = await stores.aggregates.findStep(asId<StepRunId>(step.id));
    expect(found!.actor.index.status).to.equal("running");
  });

  it("puts the event of an audit entry into its log that a crash has left owed", async () => {
    const log = newId("tnt");
    const auditId = newId("aud");
    const draft = {
      log,
      eventId: auditId,
      object: "agent",
      lifecycle: "deleted",
      timeMs: 5,
      data: { id: "a" },
    } as const;
    // As a node leaves them that is killed behind its first or its second write.
    for (const _id of [auditId, newId("aud")]) {
      await documents("audit").insertOne({
        _id,
        at: 5,
        body: {},
        owed: { ...draft, eventId: _id },
        owedAt: 5,
      } as never);
    }
    await stores.systemEvents.append([draft]);
    expect(await stores.audit.settleEvents(1)).to.equal(1);
    expect(await stores.audit.settleEvents(10)).to.equal(1);
    expect(await stores.audit.settleEvents(10)).to.equal(0);
    expect((await stores.systemEvents.read(log, 0, 10)).map(({ number }) => number)).to.deep.equal([1, 2]);
  });

  it("finishes the removal of a run that was cut off", async () => {
    const run = await storeWhole(stores, FEW);
    await documents("aggregates").deleteOne({ _id: run.runId });
    await documents("job_runs").deleteOne({ _id: run.jobIds[0]! });
    await stores.removeRun(run);
    expect(await leftOf(stores, run)).to.deep.equal([]);
  });

  it("keeps everything when it is opened again", async () => {
    const aggregate = sampleAggregate();
    await stores.aggregates.create(aggregate);
    const other = await openMongoStores({ url, database });
    expect((await other.aggregates.load(aggregate.head.rootId))!.head).to.deep.equal(aggregate.head);
    await other.close();
  });

  it("refuses a database that a newer version has written", async () => {
    const newer = freshDatabase();
    await client
      .db(newer)
      .collection<{ _id: string }>("settings")
      .insertOne({ _id: "STORE_SCHEMA", value: String(MIGRATIONS.length + 1) } as never);
    const error = await openMongoStores({ url, database: newer }).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(MillraceError).with.property("message").that.includes("newer version");
  });

  it("refuses a plan that is too large for a document", async () => {
    const plan = { ...planOf([[{}]]), namespace: "n".repeat(16 * 1024 * 1024) };
    const error = await stores.plans.put(newId("run"), plan, jobSpecsOf(plan)).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(MillraceError).with.property("reason", "too_large");
  });

  it("says what to do when it cannot be reached, and never a password", async () => {
    for (const unusable of ["mongodb://127.0.0.1:9", "mongodb://user:hush@[::1", "mongodb://user:hush@host:99999999"]) {
      const error = await openMongoStores({ url: unusable }).catch((caught: unknown) => caught);
      expect(error, unusable).to.be.instanceOf(MillraceError).with.property("message").that.includes("MONGODB_URL");
      expect(inspect(error), unusable).not.to.include("hush");
    }
  });

  it("fails calls to a server that hangs, and works again when the server answers", async () => {
    const link = await openLink(Number(new URL(url).port));
    const behind = await openMongoStores({ url: link.url, database });
    try {
      const rootId = newId("run");
      link.freeze();
      const error = await behind.aggregates.loadHead(rootId).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(MillraceError).with.property("reason", "unavailable");
      link.thaw();
      await until("an answer", () =>
        behind.ping().then(
          () => true,
          () => false,
        ),
      );
      expect(await behind.aggregates.loadHead(rootId)).to.equal(undefined);
    } finally {
      await behind.close();
      await link.close();
    }
  });

  // Behind all contracts, whose queries it checks.
  mongoQueriesContract(() => ({ watch, url, database: client.db(database) }));
});

/** A TCP proxy to a server on loopback that can be made to drop everything. */
async function openLink(port: number) {
  const sockets = new Set<Socket>();
  let frozen = false;
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on("data", (bytes) => frozen || to.write(bytes));
      from.on("error", () => {});
      from.on("close", () => to.destroy());
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const drop = (): void => sockets.forEach((socket) => socket.destroy());
  return {
    url: `mongodb://127.0.0.1:${(server.address() as { port: number }).port}`,
    freeze: (): void => void (frozen = true),
    /** Closes the connections as well, because the dropped bytes are lost. */
    thaw: (): void => {
      frozen = false;
      drop();
    },
    close: async (): Promise<void> => {
      drop();
      server.close();
      await once(server, "close");
    },
  };
}
