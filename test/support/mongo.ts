/**
 * A MongoDB-wire server for tests. All processes of a run of mocha share one server: MONGODB_TEST_URL, else `mongod` on
 * PATH, else the `mongod` that `mongodb-memory-server` downloads, else mongo-java-server. The start fails when none of
 * them is available: tests are never skipped.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, mkdir, rename, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { MongoClient } from "mongodb";
import { KILL_WITH_PARENT } from "./server-process.ts";
import { freePort } from "./ports.ts";

export interface TestMongo {
  readonly url: string;
  /** Ends the server. Other test files of this process use the same server. Idempotent. */
  stop(): Promise<void>;
}

const run = promisify(execFile);
const SOURCES = fileURLToPath(new URL("./mongo/", import.meta.url));
const JARS = fileURLToPath(new URL("../../node_modules/.cache/millrace/mongo-java-server-1.47.0/", import.meta.url));
const DOWNLOAD_TIMEOUT_MS = 15_000;
const START_TIMEOUT_MS = 20_000;

/** Environment variable with the loopback port on which mocha's main process answers with the address of its server. */
const PORT_VARIABLE = "MILLRACE_TEST_MONGO_PORT";

let started: Promise<TestMongo> | undefined;

/**
 * The server of this run of mocha, or a server of this process when mocha does not run. The first call starts the
 * server; later calls answer the same one. The first call is slow on a machine that has to download the server.
 */
export function startTestMongo(): Promise<TestMongo> {
  const port = process.env[PORT_VARIABLE];
  started ??= port === undefined ? start() : askMainProcess(Number(port));
  return started;
}

/** A random database name, so that tests that share the server do not share a database. */
export function freshDatabase(): string {
  return `millrace_${randomBytes(6).toString("hex")}`;
}

/** Ends the server if this process started one. */
export async function stopTestMongo(): Promise<void> {
  const ending = started;
  started = undefined;
  await (await ending?.catch(() => undefined))?.stop();
}

/**
 * Shares one server with this process and with the processes that it starts from now on. The first request starts the
 * server. Answers a function that ends the server.
 */
export async function shareTestMongo(): Promise<() => Promise<void>> {
  let shared: Promise<TestMongo> | undefined;
  const listener = createServer((socket) => {
    socket.on("error", () => {});
    shared ??= start();
    shared.then(
      ({ url }) => socket.end(JSON.stringify({ url })),
      (error: Error) => socket.end(JSON.stringify({ error: error.message })),
    );
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  process.env[PORT_VARIABLE] = `${(listener.address() as AddressInfo).port}`;
  return async () => {
    listener.close();
    await (await shared?.catch(() => undefined))?.stop();
  };
}

async function askMainProcess(port: number): Promise<TestMongo> {
  const { url, error } = JSON.parse(await text(connect(port, "127.0.0.1"))) as { url?: string; error?: string };
  if (url === undefined) throw new Error(error);
  return { url, stop: () => Promise.resolve() };
}

async function start(): Promise<TestMongo> {
  const given = process.env["MONGODB_TEST_URL"];
  if (given) return { url: given, stop: () => Promise.resolve() };
  const tried: string[] = [];
  for (const [name, attempt] of [
    ["mongod on PATH", () => startMongod("mongod")],
    ["mongodb-memory-server", async () => startMongod(await downloadedMongod())],
    ["mongo-java-server", startJava],
  ] as const) {
    try {
      return await attempt();
    } catch (error) {
      tried.push(`  - ${name}: ${explain(error)}`);
    }
  }
  throw new Error(
    `no MongoDB-wire server could be started; set MONGODB_TEST_URL, or install mongod. Tried:\n${tried.join("\n")}`,
  );
}

async function startMongod(binary: string): Promise<TestMongo> {
  await run(binary, ["--version"]);
  const folder = await mkdtemp(join(tmpdir(), "millrace-mongod-"));
  const port = await freePort();
  const args = ["--dbpath", folder, "--port", `${port}`, "--bind_ip", "127.0.0.1"];
  const child = spawn("sh", ["-c", KILL_WITH_PARENT, "sh", binary, ...args], { stdio: ["pipe", "ignore", "ignore"] });
  const stop = async (): Promise<void> => {
    await end(child);
    await rm(folder, { recursive: true, force: true });
  };
  return answering(`mongodb://127.0.0.1:${port}`, child, stop);
}

/**
 * Downloads only the binary: a server that the package starts itself leaves its folder behind when the download fails.
 */
async function downloadedMongod(): Promise<string> {
  const { MongoBinary } = await import("mongodb-memory-server");
  const late = sleep(DOWNLOAD_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw new Error(`no download within ${DOWNLOAD_TIMEOUT_MS} ms`);
  });
  return Promise.race([MongoBinary.getPath(), late]);
}

/** The source of the server in Java, and the folder of the libraries that it needs. Slow where they have to be fetched. */
export async function javaServer(): Promise<{ readonly launcher: string; readonly jars: string }> {
  if (!existsSync(JARS)) await fetchJars();
  return { launcher: join(SOURCES, "Launcher.java"), jars: JARS };
}

async function startJava(): Promise<TestMongo> {
  const { launcher, jars } = await javaServer();
  // A server that lives for minutes gains nothing from the costly compiler and the parallel collector.
  const flags = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];
  const child = spawn("java", [...flags, "-cp", `${jars}*`, launcher, "0"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const failed = once(child, "close").then(([code]) => Promise.reject(new Error(`java ended with ${String(code)}`)));
  const [line] = (await Promise.race([once(createInterface(child.stdout), "line"), failed])) as [string];
  return answering(`mongodb://127.0.0.1:${line}`, child, () => end(child));
}

/**
 * Fetches into a folder of this process and renames it: neither an interrupted fetch nor two fetches at a time leave
 * half a folder.
 */
async function fetchJars(): Promise<void> {
  const fetched = `${JARS.slice(0, -1)}.${process.pid}`;
  await mkdir(fetched, { recursive: true });
  const goal = ["dependency:copy-dependencies", `-DoutputDirectory=${fetched}`];
  try {
    await run("mvn", ["-q", "-B", "-f", join(SOURCES, "pom.xml"), ...goal]);
    await rename(fetched, JARS);
  } catch (error) {
    await rm(fetched, { recursive: true, force: true });
    if (!existsSync(JARS)) throw error;
  }
}

async function answering(url: string, child: ChildProcess, stop: () => Promise<void>): Promise<TestMongo> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: START_TIMEOUT_MS });
  try {
    const ended = once(child, "exit").then(() => Promise.reject(new Error("the server ended at once")));
    await Promise.race([client.db("admin").command({ ping: 1 }), ended]);
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    await client.close();
  }
}

/** Closes the server's standard input, which ends it, and waits for the end. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.stdin?.end();
  await ended;
}

/** The first line of the error, and the first line that the failed command wrote. */
function explain(error: unknown): string {
  const { message, stdout } = error as Error & { readonly stdout?: string };
  return [message.split("\n")[0], stdout?.trim().split("\n")[0]].filter(Boolean).join(": ");
}
