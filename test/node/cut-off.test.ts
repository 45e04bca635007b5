/**
 * Nodes that are cut off from the store alone, from Redis alone, or both: the table of docs/operations.md ("Who does
 * what without the store or Redis"). Each node is the whole program, over TCP proxies.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { credentials } from "@grpc/grpc-js";
import { expect } from "chai";
import { HealthClient, type HealthCheckResponse } from "../../proto/generated/grpc/health/v1/health.ts";
import { ApiClient } from "../../src/cli/api-client.ts";
import type { StartedNode } from "../../src/node/node.ts";
import { openMongoStores } from "../../src/stores/mongo/open.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";
import { openTestNodes, type TestNodes } from "../support/nodes.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";

const SHARDS = 4;
const ADMIN = "an-administrator-token-for-this-test-only";
const JOB = { name: "hello", steps: [{ name: "say", uses: "shell", args: { script: "true" } }] };
/** Three times the promise, for a machine with other load. */
const TAKEN_OVER_MS = 15_000;

/** A node and its own ways to the store and to Redis. */
interface Place {
  readonly node: StartedNode;
  readonly mongo: TcpProxy;
  readonly redis: TcpProxy;
}

interface Health {
  readonly status: number;
  readonly failed: readonly string[];
  readonly reasons: Readonly<Record<string, string>>;
}

describe("a node that is cut off", function () {
  this.timeout(60_000);
  let nodes: TestNodes;
  let stores: Stores;
  let database: string;
  let mongoPort: number;
  let proxies: TcpProxy[];
  let edge: Place;
  /** The worker that is cut off, and the one that is not. */
  let lonely: Place;
  let other: Place;
  let gateway: Place;

  before(async () => {
    nodes = await openTestNodes({ shards: SHARDS });
    const { url } = await startTestMongo();
    database = freshDatabase();
    mongoPort = Number(new URL(url).port);
    stores = await openMongoStores({ url, database });
    proxies = [];
    edge = await start("edge");
    [lonely, other] = [await start("worker"), await start("worker")];
    gateway = await start("gateway");
  });
  beforeEach(() =>
    until("they share the shards", async () => (await owned(lonely)) === 2 && (await owned(other)) === 2),
  );
  after(async () => {
    await nodes.close();
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await stores.close();
  });

  async function start(roles: string): Promise<Place> {
    const mongo = await TcpProxy.start(mongoPort);
    const redis = await TcpProxy.start(nodes.redis.port);
    proxies.push(mongo, redis);
    const node = await nodes.start(roles, {
      MONGODB_URL: `mongodb://127.0.0.1:${mongo.port}`,
      MONGODB_DATABASE: database,
      REDIS_URL: `redis://127.0.0.1:${redis.port}`,
      MILLRACE_SIGNING_KEY: "0123456789abcdef0123456789abcdef",
      MILLRACE_MASTER_KEY: "0123456789abcdef".repeat(4),
      MILLRACE_BOOTSTRAP_TOKEN: ADMIN,
    });
    return { node, mongo, redis };
  }

  async function metric({ node }: Place, name: string): Promise<number> {
    const text = await (await fetch(`http://${node.metrics}/metrics`)).text();
    const line = text.split("\n").find((each) => each.startsWith(`${name} `));
    return Number(line?.split(" ").at(-1));
  }
  const owned = (place: Place): Promise<number> => metric(place, "millrace_shards_owned");

  async function health({ node }: Place): Promise<Health> {
    const response = await fetch(`http://${node.metrics}/readyz`);
    const { failed, reasons } = (await response.json()) as Pick<Health, "failed"> & Partial<Pick<Health, "reasons">>;
    return { status: response.status, failed, reasons: reasons ?? {} };
  }

  const apiOf = ({ node }: Place) =>
    new ApiClient({ baseUrl: `http://${node.http}`, token: () => Promise.resolve(ADMIN) });

  /** Triggers a run and stops it: the run ends when the owner of its shard has taken the turn. */
  async function stopOneRun(): Promise<string> {
    const api = apiOf(edge);
    const { pipelineId } = await api.createPipeline(`cut ${randomUUID()}`, "");
    await api.saveSpec(pipelineId, { jobs: [JOB] });
    const { runId } = await api.trigger(pipelineId, {});
    const stop = `http://${edge.node.http}/api/v1/pipelines/${pipelineId}/runs/${runId}/stop`;
    await fetch(stop, { method: "POST", headers: { authorization: `Bearer ${ADMIN}` } });
    return runId;
  }
  const hasEnded = async (runId: string) => (await stores.aggregates.loadHead(runId as never))!.final;

  it("as a worker, from the store alone: another worker owns its shards", async () => {
    await lonely.mongo.goDown();
    await until("the other worker owns all", async () => (await owned(other)) === SHARDS, TAKEN_OVER_MS);
    expect(await owned(lonely)).to.equal(0);
    const { status, failed, reasons } = await health(lonely);
    expect(status).to.equal(503);
    expect(failed).to.include.members(["ownership", "store"]);
    expect(reasons["ownership"]).to.include("cannot reach the store, and another worker can");
    expect(await metric(lonely, 'millrace_worker_barred{reason="store"}')).to.equal(1);
    expect((await health(other)).status).to.equal(200);
    const runs = await Promise.all(Array.from({ length: 4 }, () => stopOneRun()));
    await until("runs end meanwhile", async () => (await Promise.all(runs.map(hasEnded))).every(Boolean));
    await lonely.mongo.comeUp();
    await until("they share the shards again", async () => (await owned(lonely)) === 2, 15_000);
    await until("it is healthy again", async () => (await health(lonely)).status === 200);
    expect(await metric(lonely, 'millrace_worker_barred{reason="store"}')).to.equal(0);
  });

  it("as all workers, from the store: no shard changes its owner, and all is served 5 s after the return", async () => {
    const before = await stores.shards.epochs();
    await Promise.all([lonely.mongo.goDown(), other.mongo.goDown()]);
    const cutAt = performance.now();
    const runId = await stopOneRun();
    while (performance.now() - cutAt < 4_000) {
      await sleep(250);
      expect([await owned(lonely), await owned(other)]).to.deep.equal([2, 2]);
    }
    await Promise.all([lonely.mongo.comeUp(), other.mongo.comeUp()]);
    await until("the run ends", () => hasEnded(runId), 15_000);
    expect([await owned(lonely), await owned(other)]).to.deep.equal([2, 2]);
    expect(await stores.shards.epochs()).to.deep.equal(before);
  });

  it("as a worker, from Redis alone: its leases run out, and another worker owns its shards", async () => {
    await lonely.redis.goDown();
    await until("the other worker owns all", async () => (await owned(other)) === SHARDS, TAKEN_OVER_MS);
    expect(await owned(lonely)).to.equal(0);
    const { status, failed } = await health(lonely);
    expect(status).to.equal(503);
    expect(failed).to.deep.equal(["redis"]);
    const runId = await stopOneRun();
    await until("a run ends meanwhile", () => hasEnded(runId));
    await lonely.redis.comeUp();
    await until("they share the shards again", async () => (await owned(lonely)) === 2, 10_000);
  });

  it("as an edge, from the store: it answers 503 and says so", async () => {
    await edge.mongo.goDown();
    const headers = { authorization: `Bearer ${ADMIN}` };
    expect((await fetch(`http://${edge.node.http}/api/v1/pipelines`, { headers })).status).to.equal(503);
    expect((await health(edge)).failed).to.deep.equal(["store"]);
    expect((await fetch(`http://${edge.node.http}/readyz`)).status).to.equal(503);
    await edge.mongo.comeUp();
    await until("it is ready again", async () => (await health(edge)).status === 200, 15_000);
  });

  it("as an edge, from Redis: it stores what it is asked, and the owner finds it", async () => {
    await edge.redis.goDown();
    const runId = await stopOneRun();
    expect((await apiOf(edge).run(runId)).runId, "reads work").to.equal(runId);
    expect((await health(edge)).failed).to.deep.equal(["redis"]);
    await until("the run ends without the edge's doorbell", () => hasEnded(runId), 15_000);
    await edge.redis.comeUp();
  });

  it("as a gateway, from the store, from Redis or from both: its health says NOT_SERVING until they are back", async () => {
    const client = new HealthClient(gateway.node.grpc!, credentials.createInsecure());
    const serving = () =>
      new Promise<string>((resolve, reject) =>
        client.check({ service: "" }, (error: Error | null, answer: HealthCheckResponse) =>
          error === null ? resolve(answer.status) : reject(error),
        ),
      );
    try {
      for (const links of [[gateway.mongo], [gateway.redis], [gateway.mongo, gateway.redis]]) {
        await until("it serves", async () => (await serving()) === "SERVING", 15_000);
        await Promise.all(links.map((link) => link.goDown()));
        await until("it says that it does not", async () => (await serving()) === "NOT_SERVING");
        const { status, failed } = await health(gateway);
        expect(status).to.equal(503);
        const names = links.map((link) => (link === gateway.mongo ? "store" : "redis"));
        expect(failed).to.include.members(names);
        await Promise.all(links.map((link) => link.comeUp()));
      }
      await until("it serves again", async () => (await serving()) === "SERVING", 15_000);
    } finally {
      client.close();
    }
  });
});
