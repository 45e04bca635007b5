import { expect } from "chai";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { MillraceError } from "../../src/domain/errors.ts";
import type { Logger } from "../../src/domain/logger.ts";
import { startEmbeddedRedis, type EmbeddedRedis } from "../../src/redis/embedded.ts";
import { askServer } from "../../src/redis/server-process.ts";
import { until } from "../support/until.ts";

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

describe("the embedded Redis", () => {
  let dataDir: string;
  let server: EmbeddedRedis | undefined;
  const clients: Redis[] = [];

  const client = (of: EmbeddedRedis): Redis => {
    const made = new Redis({ ...of.connection, retryStrategy: () => 50, maxRetriesPerRequest: null });
    made.on("error", () => {});
    clients.push(made);
    return made;
  };

  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "millrace-embedded-"));
  });
  afterEach(async () => {
    for (const opened of clients.splice(0)) opened.disconnect();
    await server?.stop();
    server = undefined;
    await rm(dataDir, { recursive: true, force: true });
  });

  it("keeps its data across an orderly stop", async () => {
    server = await startEmbeddedRedis({ dataDir, log: silent });
    await client(server).set("kept", "yes");
    await server.stop();
    server = await startEmbeddedRedis({ dataDir, log: silent });
    expect(await client(server).get("kept")).to.equal("yes");
  });

  it("serves from memory while the disk takes nothing, and keeps its data again afterwards", async () => {
    server = await startEmbeddedRedis({ dataDir, log: silent });
    const files = join(dataDir, "redis", "appendonlydir");
    await client(server).set("before", "yes");
    await server.setDurable(false);
    expect(await readdir(files).catch(() => [])).to.deep.equal([]);
    await client(server).set("meanwhile", "yes");
    await server.setDurable(true);
    const isWritten = async () =>
      !/aof_rewrite_(?:in_progress|scheduled):1/.test(await client(server!).info("persistence"));
    await until("the data is written again", isWritten);
    await server.stop();
    server = await startEmbeddedRedis({ dataDir, log: silent });
    expect(await client(server).mget("before", "meanwhile")).to.deep.equal(["yes", "yes"]);
  });

  it("is empty after its death while it served from memory: older data would be wrong", async () => {
    server = await startEmbeddedRedis({ dataDir, log: silent });
    await client(server).set("old", "yes");
    await server.setDurable(false);
    const { pid } = server;
    process.kill(pid, "SIGKILL");
    await until("another server runs", () => server!.pid !== pid);
    expect(await client(server).get("old")).to.equal(null);
  });

  it("listens on no network port when its folder can hold a socket", async () => {
    server = await startEmbeddedRedis({ dataDir, log: silent });
    expect(server.connection).to.have.keys("path");
    expect(await client(server).config("GET", "port")).to.deep.equal(["port", "0"]);
  });

  it("listens on loopback behind a password when the path is too long for a socket", async () => {
    const deep = join(dataDir, "d".repeat(110));
    await mkdir(deep);
    server = await startEmbeddedRedis({ dataDir: deep, log: silent });
    expect(server.connection).to.include({ host: "127.0.0.1" });
    expect(await client(server).ping()).to.equal("PONG");
    const intruder = new Redis({
      ...server.connection,
      password: "guess",
      lazyConnect: true,
      retryStrategy: () => null,
    });
    intruder.on("error", () => {});
    const refusal = await intruder.connect().then(
      () => intruder.ping().catch((error: Error) => error),
      (error: Error) => error,
    );
    intruder.disconnect();
    expect(refusal).to.be.instanceOf(Error);
  });

  it("never drops keys to save memory", async () => {
    server = await startEmbeddedRedis({ dataDir, log: silent });
    expect(await client(server).config("GET", "maxmemory-policy")).to.deep.equal(["maxmemory-policy", "noeviction"]);
  });

  it("refuses a data directory that another process uses", async () => {
    server = await startEmbeddedRedis({ dataDir, log: silent });
    const refusal = await startEmbeddedRedis({ dataDir, log: silent }).catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(MillraceError).with.property("reason", "conflict");
  });

  it("is started again with its data after it was killed", async () => {
    server = await startEmbeddedRedis({ dataDir, log: silent });
    const first = server.pid;
    const redis = client(server);
    await redis.set("kept", "yes");
    process.kill(first, "SIGKILL");
    expect(await redis.get("kept")).to.equal("yes");
    // The server answers shortly before `pid` changes.
    const started = server;
    await until("the new server is known", () => started.pid !== first);
  });

  it("is adopted, still running, by the next start after its owner was killed", async () => {
    const { owner, pid } = await startElsewhere(dataDir);
    await killed(owner);
    server = await startEmbeddedRedis({ dataDir, log: silent });
    expect(server.pid).to.equal(pid);
    await server.stop();
    expect(await askServer({ socket: server.connection.path! })).to.equal("absent");
  });

  it("is replaced by the next start when it hangs after its owner was killed", async function () {
    if (process.platform !== "linux") this.skip(); // Only Linux can tell a process from another one with the same id.
    const { owner, pid } = await startElsewhere(dataDir);
    await killed(owner);
    process.kill(pid, "SIGSTOP");
    server = await startEmbeddedRedis({ dataDir, log: silent });
    expect(server.pid).to.not.equal(pid);
    expect(await client(server).ping()).to.equal("PONG");
  });

  it("leaves no record and no temporary file behind", async () => {
    server = await startEmbeddedRedis({ dataDir, log: silent });
    await server.stop();
    const left = await readdir(join(dataDir, "redis"));
    expect(left.toSorted()).to.deep.equal(["appendonlydir", "redis.log"]);
  });

  it("keeps running when the terminal interrupts its owner's process group", async () => {
    const { owner, pid } = await startElsewhere(dataDir);
    process.kill(-owner.pid!, "SIGINT");
    await once(owner, "exit");
    server = await startEmbeddedRedis({ dataDir, log: silent });
    expect(server.pid).to.equal(pid);
  });
});

/**
 * Starts a process, in a process group of its own, that starts the server like millrace and then waits to be killed.
 */
async function startElsewhere(dataDir: string): Promise<{ owner: ChildProcess; pid: number }> {
  const module = fileURLToPath(new URL("../../src/redis/embedded.ts", import.meta.url));
  const script = `
    import { startEmbeddedRedis } from ${JSON.stringify(module)};
    const log = { debug() {}, info() {}, warn() {}, error() {} };
    const server = await startEmbeddedRedis({ dataDir: ${JSON.stringify(dataDir)}, log });
    console.log(server.pid);
  `;
  const owner = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  let printed = "";
  owner.stdout!.setEncoding("utf8").on("data", (text: string) => (printed += text));
  await until("the owner has started the server", () => printed.endsWith("\n"));
  return { owner, pid: Number(printed) };
}

async function killed(owner: ChildProcess): Promise<void> {
  const ended = once(owner, "exit");
  owner.kill("SIGKILL");
  await ended;
}
