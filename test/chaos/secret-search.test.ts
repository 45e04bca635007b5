/** Tests of the search for secrets in the kill tests. */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Redis } from "ioredis";
import { MongoClient } from "mongodb";
import { freshDatabase, startTestMongo } from "../support/mongo.ts";
import { startTestRedis, type TestRedis } from "../support/redis.ts";
import { scanMetrics, scanFolder, scanMongo, scanRedis, scanSqlite } from "./check/secret-places.ts";
import { SecretSearch } from "./check/secret-search.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";

const VALUE = "Tr0ub4dor&3 <of \"the> first line\nc0rrect h0rse b4ttery\\staple's";
const OTHER = "another value that no test has written";

describe("the secret search", () => {
  let search: SecretSearch;
  beforeEach(() => {
    search = new SecretSearch();
    search.add("version 2 of TOKEN", VALUE);
    search.add("version 1 of OTHER", OTHER);
  });
  const placesOfLeaks = () => search.leaks.map(({ secret, place }) => `${secret} in ${place}`);
  const isFoundIn = (text: string | Buffer) => {
    search.scan("a place", text);
    return placesOfLeaks().includes("version 2 of TOKEN in a place");
  };
  const base64 = (text: string) => Buffer.from(text).toString("base64");

  describe("finds a value", () => {
    const folded = base64(`user:${VALUE}`).replaceAll(/.{40}/g, "$&\n");
    for (const [form, text] of [
      ["as it is", VALUE],
      ["in one of its lines", "> c0rrect h0rse b4ttery\\staple's <"],
      ["in a piece of it", "r0ub4dor&3 <o"],
      ["in base64", base64(VALUE)],
      ["in base64 behind one byte", base64(`:${VALUE}`)],
      ["in base64 behind two bytes", base64(`a:${VALUE}`)],
      ["in base64 with folded lines", folded],
      ["in base64 for URLs", Buffer.from(`p:${VALUE}`).toString("base64url")],
      ["in a URL", `?token=${encodeURIComponent(VALUE)}`],
      ["in a form", new URLSearchParams({ token: VALUE }).toString()],
      ["in JSON", JSON.stringify({ token: VALUE })],
      ["in JSON that is text in JSON", JSON.stringify(JSON.stringify({ token: VALUE }))],
      ["in a trace of a shell", `+ true '${VALUE.replaceAll("'", `'\\''`)}'`],
    ] as const) {
      it(form, () => {
        // At every offset, because the search samples only every ninth byte.
        for (let before = 0; before < 16; before++) {
          search.scan(`behind ${before}`, "-".repeat(before) + text);
          expect(placesOfLeaks()).to.include(`version 2 of TOKEN in behind ${before}`);
        }
      });
    }
  });

  it("finds nothing in clean text, nor parts of a value that are too short", () => {
    expect(isFoundIn("Tr0ub4dor&3, and c0rrect or h0rse")).to.equal(false);
    expect(isFoundIn(Buffer.from(VALUE).reverse())).to.equal(false);
    expect(search.leaks).to.deep.equal([]);
    expect(search.amount).to.deep.equal({ values: 2, places: 1, bytes: 33 + Buffer.byteLength(VALUE) });
  });

  it("names the value, its form and its place, without quoting the value", () => {
    search.scan("table events", `{"reason":"${base64(VALUE)}"}`, "run-1");
    search.scan("table events", VALUE, "run-2");
    expect(search.leaks).to.deep.equal([
      { secret: "version 2 of TOKEN", form: "in base64", place: "table events", detail: "run-1" },
    ]);
  });

  describe("scans", () => {
    let folder: string;
    before(async () => void (folder = await mkdtemp(join(tmpdir(), "millrace-search-"))));
    after(() => rm(folder, { recursive: true, force: true }));

    it("every table of SQLite, and its file, which still holds deleted rows", async () => {
      const file = join(folder, "store", "millrace.db");
      await mkdir(join(folder, "store"));
      const store = new SqliteConnection(file);
      store.exec("PRAGMA journal_mode = WAL; PRAGMA secure_delete = OFF");
      store.exec("CREATE TABLE events (id TEXT PRIMARY KEY, body TEXT) WITHOUT ROWID; CREATE TABLE inbox (body BLOB)");
      // The row is longer than a page, so the file holds it in separate pieces.
      store.prepare("INSERT INTO events VALUES ('run-1', ?)").run("x".repeat(10_000) + VALUE);
      store.prepare("INSERT INTO inbox VALUES (CAST(? AS BLOB))").run(VALUE);
      store.prepare("INSERT INTO inbox VALUES (?)").run(OTHER);
      store.prepare("DELETE FROM inbox WHERE body = ?").run(OTHER);
      scanSqlite(file, search.scan);
      await scanFolder("", join(folder, "store"), search.scan);
      store.close();
      expect(placesOfLeaks()).to.have.members([
        "version 2 of TOKEN in table events",
        "version 2 of TOKEN in table inbox",
        "version 2 of TOKEN in file millrace.db",
        "version 2 of TOKEN in file millrace.db-wal",
        "version 1 of OTHER in file millrace.db",
        "version 1 of OTHER in file millrace.db-wal",
      ]);
      expect(search.leaks[0]!.detail).to.equal("run-1");
    });

    it("every collection of MongoDB, at any depth of its documents", async function () {
      this.timeout(60_000);
      const { url } = await startTestMongo();
      const name = freshDatabase();
      const client = new MongoClient(url);
      const database = client.db(name);
      await database.collection("actors").insertOne({ state: { reason: [`exit: ${VALUE}`] } });
      await database.collection("blobs.chunks").insertOne({ data: Buffer.from(VALUE) });
      await database.collection("settings").insertOne({ [OTHER]: 1 });
      await database.collection("clean").insertMany(Array.from({ length: 500 }, (_, number) => ({ number })));
      await scanMongo({ url, name }, search.scan);
      await database.dropDatabase();
      await client.close();
      expect(placesOfLeaks()).to.have.members([
        "version 2 of TOKEN in collection actors",
        "version 2 of TOKEN in collection blobs.chunks",
        "version 1 of OTHER in collection settings",
      ]);
      expect(search.amount.places).to.equal(4);
    });

    it("Redis keys of every type, their names, and the files of the server", async function () {
      this.timeout(60_000);
      const server: TestRedis = await startTestRedis({ appendonly: true });
      const redis = new Redis(server.url);
      try {
        await redis.set("a string", VALUE);
        await redis.hset("a hash", "field", VALUE);
        await redis.hset("a hash's field", VALUE, "1");
        await redis.rpush("a list", "clean", VALUE);
        await redis.sadd("a set", VALUE);
        await redis.zadd("a sorted set", 1, VALUE);
        await redis.xadd("a stream", "*", "field", VALUE);
        await redis.set(`a name: ${VALUE}`, 1);
        await redis.set("gone", OTHER);
        await redis.del("gone");
        await scanRedis(redis, search.scan);
      } finally {
        redis.disconnect();
        await server.stop();
      }
      const keys = ["string", "hash", "hash's field", "list", "set", "sorted set", "stream"];
      expect(placesOfLeaks())
        .to.include.members(keys.map((key) => `version 2 of TOKEN in Redis key a ${key}`))
        .and.to.include("version 2 of TOKEN in a name that holds a secret value");
      const onDisk = placesOfLeaks().filter((text) => /^version 1 of OTHER in Redis' file .*\.aof$/.test(text));
      expect(onDisk).to.have.length(1);
    });

    it("all files of a folder, also those in hidden subfolders", async () => {
      await mkdir(join(folder, "agent-1", ".git"), { recursive: true });
      await writeFile(join(folder, "agent-1", ".git", "config"), `token = ${VALUE}`);
      await writeFile(join(folder, "agent-1", "journal.jsonl"), "{}\n");
      await scanFolder("", join(folder, "agent-1"), search.scan);
      expect(placesOfLeaks()).to.deep.equal(["version 2 of TOKEN in file .git/config"]);
      expect(search.amount.places).to.equal(2);
    });

    it("the metrics of a node, and fails when the node does not answer them", async () => {
      let status = 200;
      const server = createServer((_, response) => {
        response.writeHead(status).end(`requests{path=${JSON.stringify(VALUE)}} 1\n`);
      });
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      await scanMetrics("edge-1", address, search.scan);
      expect(placesOfLeaks()).to.deep.equal(["version 2 of TOKEN in the metrics of edge-1"]);
      status = 500;
      const refused = await scanMetrics("edge-1", address, search.scan).catch(String);
      expect(refused).to.equal("Error: the metrics of edge-1 were answered with 500");
      server.close();
      server.closeAllConnections();
    });
  });
});
