/**
 * The embedded Redis: a private server in the data directory, for an installation whose configuration names no Redis. It keeps
 * its data in memory alone. After its death the owners of shards tell the next server what the store knows.
 */
import { mkdir, readFile, realpath, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { MillraceError } from "../domain/errors.ts";
import type { Logger } from "../domain/logger.ts";
import { provideRedisBinary } from "./binary.ts";
import { parseRedisUrl, type RedisAddress } from "./connect.ts";
import {
  askServer,
  launchServer,
  OWNER_NAME,
  possibleAddresses,
  runsIn,
  serverUrl,
  type ServerAddress,
} from "./server-process.ts";

export interface EmbeddedRedis {
  /** For `connectRedis`. */
  readonly url: string;
  /** The same address as ioredis options. */
  readonly connection: RedisAddress;
  /** The process id of the server. It changes when the server dies and is started again. */
  readonly pid: number;
  /** Ends the server and resolves when it has ended; kills the server after ten seconds. Idempotent. */
  stop(): Promise<void>;
}

interface ServerRecord {
  readonly pid: number;
  readonly address: ServerAddress;
}

/** Where servers of earlier releases write their data. */
const WRITTEN_FOLDER = "appendonlydir";

const STOP_MS = 10_000;
const POLL_MS = 20;

/**
 * Starts a server in `dataDir`, or adopts the server that a killed millrace process left running there. Starts another one
 * whenever it dies. Rejects with `conflict` when another millrace process uses the directory, and with `unavailable`
 * when no server can be found or started.
 */
export async function startEmbeddedRedis(options: {
  readonly dataDir: string;
  readonly log: Logger;
}): Promise<EmbeddedRedis> {
  const { log } = options;
  const binary = await provideRedisBinary();
  const created = join(options.dataDir, "redis");
  await mkdir(created, { recursive: true, mode: 0o700 });
  const folder = await realpath(created);

  const adopted = await adopt(folder);
  // A server reads a part of these files even if it writes none.
  if (adopted === undefined) await removeWritten(folder);
  let { pid, address } = adopted ?? (await launchAnywhere(binary, folder));
  await writeRecord(folder, { pid, address });
  log.info({ pid, folder }, "embedded Redis runs");

  let stopping: Promise<void> | undefined;
  let restarting = false;
  const owner = new Redis({
    ...parseRedisUrl(serverUrl(address)),
    connectionName: OWNER_NAME,
    maxRetriesPerRequest: null,
    retryStrategy: () => 200,
  });
  owner.on("error", () => {}); // A "close" event follows each error, and is handled below.
  owner.on("close", () => void restartIfDead());
  if (adopted !== undefined) {
    // A server of an earlier release would refuse every write when the disk is full.
    await owner.config("SET", "appendonly", "no");
    await removeWritten(folder);
  }

  async function restartIfDead(): Promise<void> {
    if (stopping || restarting) return;
    restarting = true;
    try {
      if (await runsIn(pid, folder)) return;
      log.error({ pid }, "the embedded Redis has died; the node starts it again");
      pid = await launchServer(binary, folder, address);
      await writeRecord(folder, { pid, address });
    } catch (error) {
      log.error(
        { error: (error as Error).message },
        "the embedded Redis cannot be started again; the node keeps trying",
      );
    } finally {
      restarting = false;
    }
  }

  async function stop(): Promise<void> {
    while (restarting) await pause(POLL_MS);
    owner.shutdown("NOSAVE").catch(() => {}); // The server ends the connection instead of answering.
    if (!(await hasEnded(pid, folder, STOP_MS))) {
      log.error({ pid }, "the embedded Redis does not end; the node kills it");
      process.kill(pid, "SIGKILL");
      await hasEnded(pid, folder, STOP_MS);
    }
    owner.disconnect();
    await rm(recordFile(folder), { force: true });
  }

  return {
    url: serverUrl(address),
    connection: parseRedisUrl(serverUrl(address)),
    get pid() {
      return pid;
    },
    stop: () => (stopping ??= stop()),
  };
}

/** The URL of the server that runs on `dataDir`, for a process that only reads; undefined when none answers. */
export async function findEmbeddedRedis(dataDir: string): Promise<string | undefined> {
  const folder = await realpath(join(dataDir, "redis")).catch(() => undefined);
  const record = folder === undefined ? undefined : await readRecord(folder);
  if (record === undefined) return undefined;
  const answer = await askServer(record.address);
  const answers = answer !== "absent" && answer !== "silent" && answer.folder === folder && !answer.loading;
  return answers ? serverUrl(record.address) : undefined;
}

/**
 * The server that a killed millrace process left running, when it answers; else undefined. A server that hangs is
 * killed, because it still uses the files. Rejects with `conflict` when a millrace process is connected to the server.
 */
async function adopt(folder: string): Promise<ServerRecord | undefined> {
  const record = await readRecord(folder);
  if (record === undefined) return undefined;
  for (;;) {
    const answer = await askServer(record.address);
    if (answer === "absent" || answer === "silent" || answer.folder !== folder) {
      if (!(await runsIn(record.pid, folder))) return undefined;
      if (process.platform !== "linux" && answer !== "silent") return undefined;
      process.kill(record.pid, "SIGKILL");
      await hasEnded(record.pid, folder, STOP_MS);
      return undefined;
    }
    if (answer.owned) {
      throw new MillraceError(
        "conflict",
        `${folder} is in use by another millrace process; stop that one, or give this one a data directory of its own`,
      );
    }
    if (!answer.loading) return { pid: answer.pid, address: record.address };
    await pause(POLL_MS);
  }
}

async function removeWritten(folder: string): Promise<void> {
  await rm(join(folder, WRITTEN_FOLDER), { recursive: true, force: true });
}

async function launchAnywhere(binary: string, folder: string): Promise<ServerRecord> {
  let refusal: unknown;
  for (const address of await possibleAddresses(folder)) {
    try {
      return { pid: await launchServer(binary, folder, address), address };
    } catch (error) {
      refusal = error;
    }
  }
  throw refusal;
}

async function hasEnded(pid: number, folder: string, withinMs: number): Promise<boolean> {
  for (const until = performance.now() + withinMs; performance.now() < until; await pause(POLL_MS)) {
    if (!(await runsIn(pid, folder))) return true;
  }
  return false;
}

function recordFile(folder: string): string {
  return join(folder, "server.json");
}

async function readRecord(folder: string): Promise<ServerRecord | undefined> {
  try {
    return JSON.parse(await readFile(recordFile(folder), "utf8")) as ServerRecord;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Readable by the owner only, because the record contains the password. Renaming makes the file appear complete or not
 * at all.
 */
async function writeRecord(folder: string, record: ServerRecord): Promise<void> {
  const temporary = `${recordFile(folder)}.${process.pid}`;
  await writeFile(temporary, JSON.stringify(record), { mode: 0o600 });
  await rename(temporary, recordFile(folder));
}
