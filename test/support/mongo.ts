/**
 * A MongoDB-wire server for tests, one for all processes of a run of mocha: MONGODB_TEST_URL, `mongod` on PATH, the
 * `mongod` that `mongodb-memory-server` downloads, else mongo-java-server. Fails when none can be had: tests never skip.
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
import { LIFE_LINE } from "./life-line.ts";
import { freePort } from "./ports.ts";

export interface TestMongo {
  readonly url: string;
  /** Ends the server, which other test files of this process use too. Idempotent. */
  stop(): Promise<void>;
}

const run = promisify(execFile);
const SOURCES = fileURLToPath(new URL("./mongo/", import.meta.url));
const JARS = fileURLToPath(new URL("../../node_modules/.cache/millrace/mongo-java-server-1.47.0/", import.meta.url));
const DOWNLOAD_TIMEOUT_MS = 15_000;
const START_TIMEOUT_MS = 20_000;

/** Names the loopback port on which mocha's main process answers where its server is. */
const ASK_AT = "MILLRACE_TEST_MONGO_PORT";

let started: Promise<TestMongo> | undefined;

/**
 * The server of this run of mocha, or one of this process when mocha does not run. The first call starts it; later calls
 * answer the same one. Slow on a machine that has to fetch the server first.
 */
export function startTestMongo(): Promise<TestMongo> {
  const port = process.env[ASK_AT];
  started ??= port === undefined ? start() : ask(Number(port));
  return started;
}

/** A database name that nobody else uses. */
export function freshDatabase(): string {
  return `millrace_${randomBytes(6).toString("hex")}`;
}

/** Ends the server, if this process started one. */
export async function stopTestMongo(): Promise<void> {
  const ending = started;
  started = undefined;
  await (await ending?.catch(() => undefined))?.stop();
}

/**
 * Offers one server to this process and to those that it starts from now on: the first that asks has it started. Answers
 * what ends the server.
 */
export async function shareTestMongo(): Promise<() => Promise<void>> {
  let shared: Promise<TestMongo> | undefined;
  const desk = createServer((socket) => {
    socket.on("error", () => {});
    shared ??= start();
    shared.then(
      ({ url }) => socket.end(JSON.stringify({ url })),
      (error: Error) => socket.end(JSON.stringify({ error: error.message })),
    );
  });
  desk.listen(0, "127.0.0.1");
  await once(desk, "listening");
  process.env[ASK_AT] = `${(desk.address() as AddressInfo).port}`;
  return async () => {
    desk.close();
    await (await shared?.catch(() => undefined))?.stop();
  };
}

async function ask(port: number): Promise<TestMongo> {
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
  const child = spawn("sh", ["-c", LIFE_LINE, "sh", binary, ...args], { stdio: ["pipe", "ignore", "ignore"] });
  const stop = async (): Promise<void> => {
    await end(child);
    await rm(folder, { recursive: true, force: true });
  };
  return answering(`mongodb://127.0.0.1:${port}`, child, stop);
}

/** Only the binary: a server that the package itself starts would leave its folder behind when the download fails. */
async function downloadedMongod(): Promise<string> {
  const { MongoBinary } = await import("mongodb-memory-server");
  const late = sleep(DOWNLOAD_TIMEOUT_MS, undefined, { ref: false }).then(() => {
    throw new Error(`no download within ${DOWNLOAD_TIMEOUT_MS} ms`);
  });
  return Promise.race([MongoBinary.getPath(), late]);
}

async function startJava(): Promise<TestMongo> {
  if (!existsSync(JARS)) await fetchJars();
  const child = spawn("java", ["-cp", `${JARS}*`, join(SOURCES, "Launcher.java"), "0"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const failed = once(child, "close").then(([code]) => Promise.reject(new Error(`java ended with ${String(code)}`)));
  const [line] = (await Promise.race([once(createInterface(child.stdout), "line"), failed])) as [string];
  return answering(`mongodb://127.0.0.1:${line}`, child, () => end(child));
}

/** Fetches into a folder of its own and renames it: an interrupted fetch, or two at a time, leave nothing half-done. */
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

/** Closes the life line. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.stdin?.end();
  await ended;
}

/** Its first line, and what a command wrote. */
function explain(error: unknown): string {
  const { message, stdout } = error as Error & { readonly stdout?: string };
  return [message.split("\n")[0], stdout?.trim().split("\n")[0]].filter(Boolean).join(": ");
}
