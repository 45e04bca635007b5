import { expect } from "chai";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
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

  it("writes nothing to the disk, and removes what an earlier release has written there", async () => {
    const files = join(dataDir, "redis", "appendonlydir");
    await mkdir(files, { recursive: true });
    await writeFile(join(files, "appendonly.aof.manifest"), "file of-an-earlier-release.aof seq 1 type i");
    server = await startEmbeddedRedis({ dataDir, log: silent });
    await client(server).set("kept", "in memory");
    await server.stop();
    expect(await readdir(join(dataDir, "redis"))).to.deep.equal(["redis.log"]);
  });

  it("no longer writes once it is adopted from an earlier release, and keeps what it has in memory", async () => {
    const { owner, pid } = await startElsewhere(dataDir);
    await killed(owner);
    const left = new Redis({ path: join(await realpath(dataDir), "redis", "redis.sock") });
    await left.config("SET", "appendonly", "yes");
    await left.set("kept", "yes");
    left.disconnect();
    server = await startEmbeddedRedis({ dataDir, log: silent });
    expect(server.pid).to.equal(pid);
    expect(await client(server).config("GET", "appendonly")).to.deep.equal(["appendonly", "no"]);
    expect(await client(server).get("kept")).to.equal("yes");
    expect(await readdir(join(dataDir, "redis"))).to.not.include("appendonlydir");
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

  it("is started again, and is empty, after it was killed", async () => {
    server = await startEmbeddedRedis({ dataDir, log: silent });
    const first = server.pid;
    const redis = client(server);
    await redis.set("kept", "in memory");
    process.kill(first, "SIGKILL");
    expect(await redis.get("kept")).to.equal(null);
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
    expect(await readdir(join(dataDir, "redis"))).to.deep.equal(["redis.log"]);
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
