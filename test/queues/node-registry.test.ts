import { expect } from "chai";
import { NodeRegistry, type NodeRecord } from "../../queues/node-registry.ts";
import { connectRedis, type RedisClient } from "../../src/redis/connect.ts";
import { silentLog } from "../support/kernel-ports.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { until } from "../support/until.ts";

describe("the registry of nodes", function () {
  this.timeout(30_000);
  let redis: TestRedis;
  let client: RedisClient;
  let registries: NodeRegistry[];

  beforeEach(async () => {
    redis = await startTestRedis();
    client = connectRedis({ url: redis.url }, { role: "edge", log: silentLog });
    registries = [];
  });
  afterEach(async () => {
    await Promise.all(registries.map((registry) => registry.stop()));
    client.disconnect();
    await redis.stop();
  });

  const record = (nodeId: string, startedAt: number): NodeRecord => ({
    nodeId,
    roles: ["worker"],
    version: "1.2.3",
    host: "there",
    pid: 7,
    startedAt,
    schema: 1,
  });

  function registryOf(nodeRecord: NodeRecord, connection = client): NodeRegistry {
    const registry = new NodeRegistry({ redis: connection, record: nodeRecord, log: silentLog });
    registries.push(registry);
    return registry;
  }

  const idsOf = async (registry: NodeRegistry): Promise<readonly string[]> =>
    (await registry.list()).map(({ nodeId }) => nodeId);

  it("lists the nodes that have announced themselves, oldest first, until they leave", async () => {
    const [young, old] = [registryOf(record("young", 2)), registryOf(record("old", 1))];
    await young.start();
    await old.start();
    expect(await young.list()).to.deep.equal([record("old", 1), record("young", 2)]);
    await old.stop();
    expect(await idsOf(young)).to.deep.equal(["young"]);
  });

  it("knows for how long a node has been alone: not while another one lives or Redis does not answer", async () => {
    const first = registryOf(record("first", 1));
    expect(first.aloneMs()).to.equal(0);
    await first.start();
    await until("it is alone", () => first.aloneMs() > 1_000);
    const connection = connectRedis({ url: redis.url }, { role: "edge", log: silentLog });
    // As a node of an earlier release does, and as a node that is killed does.
    await registryOf(record("second", 2), connection).start();
    await until("the second one is noticed", () => first.aloneMs() === 0, 4_500);
    connection.disconnect();
    await until("the first one is alone again", () => first.aloneMs() > 0, 8_000);
    client.disconnect();
    await until("it does not know", () => first.aloneMs() === 0, 4_000);
  });

  it("drops a node that has been silent for 5 s", async () => {
    const connection = connectRedis({ url: redis.url }, { role: "edge", log: silentLog });
    await registryOf(record("dead", 1), connection).start();
    const reader = registryOf(record("reader", 2));
    const silentSince = performance.now();
    connection.disconnect();
    expect(await idsOf(reader)).to.deep.equal(["dead"]);
    await until("the dead node is gone", async () => (await reader.list()).length === 0);
    expect(performance.now() - silentSince).to.be.within(4_500, 6_500);
    await reader.start();
    expect(await client.zcard("{millrace}:nodes")).to.equal(1);
  });

  it("announces its node again after a loss of Redis, and rejects a list before that", async () => {
    const registry = registryOf(record("survivor", 1));
    await registry.start();
    await redis.kill();
    const failure = await registry.list().catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error);
    await redis.restart();
    await until("the node is listed again", async () => (await idsOf(registry)).includes("survivor"));
  });

  it("rejects a start without Redis, and leaves no timer running", async () => {
    await redis.kill();
    const failure = await registryOf(record("early", 1))
      .start()
      .catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error);
  });
});
