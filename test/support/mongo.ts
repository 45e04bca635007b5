/**
 * A MongoDB-wire server for tests, one for the whole test process: MONGODB_TEST_URL, `mongod` on PATH, one that
 * `mongodb-memory-server` can download, else mongo-java-server. Fails when none can be had: tests never skip.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { MongoClient } from "mongodb";

export interface TestMongo {
  readonly url: string;
  stop(): Promise<void>;
}

const run = promisify(execFile);
const HERE = fileURLToPath(new URL("./mongo/", import.meta.url));
const JARS = fileURLToPath(new URL("../../node_modules/.cache/millrace/mongo-java-server/", import.meta.url));
const DOWNLOAD_HOST = "fastdl.mongodb.org";
const DOWNLOAD_TIMEOUT_MS = 15_000;

let shared: Promise<TestMongo> | undefined;

/** Starts the server once; later calls answer the same one. */
export function startTestMongo(): Promise<TestMongo> {
  shared ??= start();
  return shared;
}

/** A database name that nobody else uses. */
export function freshDatabase(): string {
  return `millrace_${randomBytes(6).toString("hex")}`;
}

/** Ends the shared server, if one was started. */
export async function stopTestMongo(): Promise<void> {
  const mongo = await shared?.catch(() => undefined);
  shared = undefined;
  await mongo?.stop();
}

async function start(): Promise<TestMongo> {
  const given = process.env["MONGODB_TEST_URL"];
  if (given !== undefined) return { url: given, stop: () => Promise.resolve() };
  const tried: string[] = [];
  for (const [name, attempt] of [
    ["mongod on PATH", startMongod],
    ["mongodb-memory-server", startDownloaded],
    ["mongo-java-server", startJava],
  ] as const) {
    try {
      return await attempt();
    } catch (error) {
      tried.push(`${name}: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
    }
  }
  throw new Error(`no MongoDB-wire server could be started; set MONGODB_TEST_URL\n  ${tried.join("\n  ")}`);
}

async function startMongod(): Promise<TestMongo> {
  await run("mongod", ["--version"]);
  const folder = await mkdtemp(join(tmpdir(), "millrace-mongod-"));
  const port = await freePort();
  const child = spawn("mongod", ["--dbpath", folder, "--port", String(port), "--bind_ip", "127.0.0.1"], {
    stdio: ["ignore", "ignore", "ignore"],
  });
  const endWithUs = (): void => void child.kill("SIGKILL");
  process.once("exit", endWithUs);
  const url = `mongodb://127.0.0.1:${port}`;
  await answers(url, child);
  return {
    url,
    async stop() {
      process.off("exit", endWithUs);
      await end(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startDownloaded(): Promise<TestMongo> {
  // Asked for first, since the package retries for long and prints each failure.
  await lookup(DOWNLOAD_HOST);
  const { MongoMemoryServer } = await import("mongodb-memory-server");
  const created = MongoMemoryServer.create();
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error("the download takes too long")), DOWNLOAD_TIMEOUT_MS).unref();
  });
  const server = await Promise.race([created, late]);
  return { url: server.getUri(), stop: async () => void (await server.stop()) };
}

async function startJava(): Promise<TestMongo> {
  if (!existsSync(JARS)) await fetchJars();
  const child = spawn("java", ["-cp", `${JARS}*`, join(HERE, "Launcher.java"), "0"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.on("error", () => undefined);
  for await (const line of createInterface(child.stdout)) {
    const port = /^port (\d+)$/.exec(line)?.[1];
    if (port === undefined) continue;
    const url = `mongodb://127.0.0.1:${port}`;
    await answers(url, child);
    child.unref();
    return { url, stop: () => end(child) };
  }
  throw new Error(`java ended with ${String(child.exitCode)}`);
}

/** Fetches into a folder of its own and renames it, so that an interrupted or doubled fetch leaves nothing half-done. */
async function fetchJars(): Promise<void> {
  const fetched = `${JARS.slice(0, -1)}.${process.pid}`;
  await mkdir(fetched, { recursive: true });
  await run("mvn", [
    "-q",
    "-B",
    "-f",
    join(HERE, "pom.xml"),
    "dependency:copy-dependencies",
    `-DoutputDirectory=${fetched}`,
  ]);
  await rename(fetched, JARS).catch(async (error: unknown) => {
    await rm(fetched, { recursive: true, force: true });
    if (!existsSync(JARS)) throw error;
  });
}

async function answers(url: string, child: ChildProcess): Promise<void> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 20_000 });
  try {
    await Promise.race([
      client.db("admin").command({ ping: 1 }),
      once(child, "exit").then(() => Promise.reject(new Error("the server ended at once"))),
    ]);
  } finally {
    await client.close();
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
  await ended;
  clearTimeout(timer);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
