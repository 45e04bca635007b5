/**
 * The embedded Redis: a private server on the data directory, for an installation whose configuration names no Redis.
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
  APPEND_ONLY_FOLDER,
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
  /**
   * Whether the server writes its data to the disk. While it does not, because the disk is full, the server serves from
   * memory, and after its death it would be empty; a server that cannot write would refuse every write instead. Never
   * rejects.
   */
  setDurable(isDurable: boolean): Promise<void>;
  /** Saves the data, ends the server and resolves when it has ended; kills the server after ten seconds. Idempotent. */
  stop(): Promise<void>;
}

interface ServerRecord {
  readonly pid: number;
  readonly address: ServerAddress;
}

const STOP_MS = 10_000;
const POLL_MS = 20;

/**
 * Starts a server on `dataDir`, or adopts the server that a killed millrace process left running there. Starts it again
 * whenever it dies. Rejects with `conflict` when another millrace process uses the directory, and with `unavailable`
 * when no server can be found or started.
 */
export async function startEmbeddedRedis(options: {
  readonly dataDir: string;
  readonly log: Logger;
  /** As {@link EmbeddedRedis.setDurable}, from the start; default true. */
  readonly isDurable?: boolean;
}): Promise<EmbeddedRedis> {
  const { log } = options;
  let isDurable = options.isDurable ?? true;
  const binary = await provideRedisBinary();
  const created = join(options.dataDir, "redis");
  await mkdir(created, { recursive: true, mode: 0o700 });
  const folder = await realpath(created);

  let { pid, address } = (await adopt(folder)) ?? (await launchAnywhere(binary, folder, isDurable));
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
  await applyDurability();
  let changing: Promise<void> = Promise.resolve();

  /** The files of a server that does not write would be stale when it starts again, so they are removed. */
  async function applyDurability(): Promise<void> {
    await owner.config("SET", "appendonly", isDurable ? "yes" : "no");
    if (!isDurable) await rm(join(folder, APPEND_ONLY_FOLDER), { recursive: true, force: true });
  }

  /** One change after the other, so that no removal of old files meets new ones. */
  function setDurable(next: boolean): Promise<void> {
    isDurable = next;
    changing = changing.then(applyDurability).catch((error: Error) => {
      log.warn({ isDurable, error: error.message }, "the embedded Redis did not take a setting");
    });
    return changing;
  }

  async function restartIfDead(): Promise<void> {
    if (stopping || restarting) return;
    restarting = true;
    try {
      if (await runsIn(pid, folder)) return;
      log.error({ pid }, "the embedded Redis has died; the node starts it again");
      pid = await launchServer(binary, folder, address, isDurable);
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
    owner.shutdown().catch(() => {}); // The server ends the connection instead of answering.
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
    setDurable,
    stop: () => (stopping ??= stop()),
  };
}

/**
 * The server that runs on `dataDir`, for a process that only reads; undefined when none answers. `owned` is false after
 * the millrace process that started or adopted the server was killed.
 */
export async function findEmbeddedRedis(
  dataDir: string,
): Promise<{ readonly url: string; readonly owned: boolean } | undefined> {
  const folder = await realpath(join(dataDir, "redis")).catch(() => undefined);
  const record = folder === undefined ? undefined : await readRecord(folder);
  if (record === undefined) return undefined;
  const answer = await askServer(record.address);
  const answers = answer !== "absent" && answer !== "silent" && answer.folder === folder && !answer.loading;
  return answers ? { url: serverUrl(record.address), owned: answer.owned } : undefined;
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

async function launchAnywhere(binary: string, folder: string, isDurable: boolean): Promise<ServerRecord> {
  let refusal: unknown;
  for (const address of await possibleAddresses(folder)) {
    try {
      return { pid: await launchServer(binary, folder, address, isDurable), address };
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
