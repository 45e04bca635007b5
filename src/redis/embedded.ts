/** The embedded Redis: a private server on a data directory, for an installation that names no Redis of its own. */
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
  /** Process id; another one after the server died and was started again. */
  readonly pid: number;
  /** Saves the data, ends the server and resolves when it has ended; kills it after ten seconds. Idempotent. */
  stop(): Promise<void>;
}

interface ServerRecord {
  readonly pid: number;
  readonly address: ServerAddress;
}

const STOP_MS = 10_000;
const POLL_MS = 20;

/**
 * Starts the server of `dataDir`, or adopts the one that a killed millrace process left running there, and starts it
 * again whenever it dies. `conflict` when another millrace process uses the directory, `unavailable` when no server
 * can be had.
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

  let { pid, address } = (await adopt(folder)) ?? (await launchAnywhere(binary, folder));
  await writeRecord(folder, { pid, address });
  log.info({ pid, folder }, "embedded Redis runs");

  let stopping: Promise<void> | undefined;
  let reviving = false;
  const owner = new Redis({
    ...parseRedisUrl(serverUrl(address)),
    connectionName: OWNER_NAME,
    maxRetriesPerRequest: null,
    retryStrategy: () => 200,
  });
  owner.on("error", () => {}); // What matters is "close", which follows each failed attempt too.
  owner.on("close", () => void revive());
  await owner.ping();

  async function revive(): Promise<void> {
    if (stopping || reviving) return;
    reviving = true;
    try {
      if (await runsIn(pid, folder)) return;
      log.error({ pid }, "embedded Redis has died; starting it again");
      pid = await launchServer(binary, folder, address);
      await writeRecord(folder, { pid, address });
    } catch (error) {
      log.error({ error: (error as Error).message }, "embedded Redis cannot be started again; trying once more");
    } finally {
      reviving = false;
    }
  }

  async function stop(): Promise<void> {
    while (reviving) await pause(POLL_MS);
    owner.shutdown().catch(() => {}); // The server ends the connection instead of answering.
    if (!(await hasEnded(pid, folder, STOP_MS))) {
      log.error({ pid }, "embedded Redis does not end; killing it");
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

/** The server that was left behind, when it is there and answers; a hung one is killed, since its files are in use. */
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

/** Readable by the owner alone: the record holds the password. Renamed into place, so it is whole or not there. */
async function writeRecord(folder: string, record: ServerRecord): Promise<void> {
  const temporary = `${recordFile(folder)}.${process.pid}`;
  await writeFile(temporary, JSON.stringify(record), { mode: 0o600 });
  await rename(temporary, recordFile(folder));
}
