import { expect } from "chai";
import { MillraceError } from "../../src/domain/errors.ts";
import { checkRedis, connectRedis, parseRedisUrl, type RedisClient, type RedisRole } from "../../src/redis/connect.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { freePort } from "../support/ports.ts";
import { startTestRedisCluster } from "../support/redis-cluster.ts";
import { until } from "../support/until.ts";

describe("a Redis URL", () => {
  it("names a server, a database and credentials", () => {
    expect(parseRedisUrl("redis://user:p%40ss@example.test:7000/3")).to.deep.equal({
      host: "example.test",
      port: 7000,
      db: 3,
      username: "user",
      password: "p@ss",
    });
    expect(parseRedisUrl("redis://[::1]")).to.deep.equal({ host: "::1", port: 6379, db: 0 });
  });

  it("uses TLS with rediss", () => {
    expect(parseRedisUrl("rediss://example.test")).to.have.property("tls");
  });

  it("names a socket as a path or with redis+unix, with any characters in it", () => {
    expect(parseRedisUrl("/run/redis.sock")).to.deep.equal({ path: "/run/redis.sock" });
    expect(parseRedisUrl("redis+unix:///run/a%20b%23c/redis.sock")).to.deep.equal({ path: "/run/a b#c/redis.sock" });
  });

  it("is refused when it has another form, and the message does not quote it", () => {
    for (const url of ["http://:secret@example.test", "secret", "redis://example.test/secret"]) {
      expect(() => parseRedisUrl(url))
        .to.throw(MillraceError)
        .that.satisfies((error: MillraceError) => !error.message.includes("secret"));
    }
  });
});

describe("a connection to Redis", () => {
  let server: TestRedis;
  const clients: RedisClient[] = [];
  const lines: string[] = [];
  const note = (_: unknown, message: string): void => void lines.push(message);
  const log = { debug: note, info: note, warn: note, error: note };

  const connect = (role: RedisRole): RedisClient => {
    const client = connectRedis({ url: server.url }, { role, log });
    clients.push(client);
    return client;
  };

  before(async () => {
    server = await startTestRedis({ appendonly: true });
  });
  afterEach(() => {
    for (const client of clients.splice(0)) client.disconnect();
    lines.length = 0;
  });
  after(() => server.stop());

  it("of an edge fails within three seconds without Redis; one of a consumer waits", async () => {
    const [edge, consumer] = [connect("edge"), connect("consumer")];
    await Promise.all([edge.ping(), consumer.ping()]);
    await server.kill();
    const begun = performance.now();
    const waiting = consumer.set("waited", "yes");
    const refusal = await edge.get("waited").catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(Error);
    expect(performance.now() - begun).to.be.below(3_000);
    await server.restart();
    expect(await waiting).to.equal("OK");
    await until("the edge works again", () => edge.get("waited").catch(() => null));
  });

  it("logs an outage once when it begins and once when it ends", async () => {
    const client = connect("consumer");
    await client.ping();
    await server.kill();
    let attempts = 0;
    client.on("close", () => attempts++);
    await until("several attempts have failed", () => attempts > 4);
    await server.restart();
    await client.ping();
    expect(lines).to.deep.equal(["Redis cannot be reached; trying again until it can", "Redis can be reached again"]);
  });

  it("is refused when the server may drop keys, and the error says what to set", async () => {
    const client = connect("consumer");
    await checkRedis(client, log);
    await client.config("SET", "maxmemory-policy", "allkeys-lru");
    const refusal = await checkRedis(client, log).catch((error: unknown) => error);
    await client.config("SET", "maxmemory-policy", "noeviction");
    expect(refusal).to.be.instanceOf(MillraceError).with.property("message").that.includes("noeviction");
  });

  it("is used with a warning when the server does not tell its policy", async () => {
    const admin = connect("consumer");
    await admin.acl("SETUSER", "guest", "on", ">guest", "~*", "+@all", "-config");
    const guest = connectRedis({ url: server.url.replace("//", "//guest:guest@") }, { role: "consumer", log });
    clients.push(guest);
    await checkRedis(guest, log);
    expect(lines.join()).to.include("maxmemory-policy");
  });

  it("is refused with what to change when no server answers, or the server refuses the login", async () => {
    const refusal = async (url: string): Promise<unknown> => {
      const client = connectRedis({ url }, { role: "edge", log });
      clients.push(client);
      return checkRedis(client, log).catch((error: unknown) => error);
    };
    const away = await refusal(`redis://127.0.0.1:${await freePort()}`);
    expect(away).to.be.instanceOf(MillraceError).with.property("message").that.includes("check REDIS_URL");
    await connect("consumer").config("SET", "requirepass", "secret");
    const nameless = await refusal(server.url);
    const wrong = await refusal(server.url.replace("//", "//:wrong@"));
    const admin = connectRedis({ url: server.url.replace("//", "//:secret@") }, { role: "consumer", log });
    clients.push(admin);
    await admin.config("SET", "requirepass", "");
    for (const one of [nameless, wrong]) {
      expect(one).to.be.instanceOf(MillraceError).with.property("message").that.includes("refuses the login");
    }
  });

  it("is refused as well when one server of a cluster may drop keys", async () => {
    const cluster = await startTestRedisCluster();
    const connectCluster = (): RedisClient => {
      const nodes = cluster.addresses.split(",").map((address) => {
        const [host, port] = address.split(":");
        return { host: host!, port: Number(port) };
      });
      return connectRedis({ cluster: nodes }, { role: "edge", log });
    };
    try {
      const well = connectCluster();
      await checkRedis(well, log);
      well.disconnect();
      await cluster.nodes[1]!.client.config("SET", "maxmemory-policy", "allkeys-lru");
      const ill = connectCluster();
      const refusal = await checkRedis(ill, log).catch((error: unknown) => error);
      ill.disconnect();
      expect(refusal).to.be.instanceOf(MillraceError).with.property("message").that.includes("noeviction");
    } finally {
      await cluster.stop();
    }
  });
});
