/**
 * The connection to the embedded store: synchronous, write-ahead log, every commit on disk before it counts. Writes that
 * are asked for at once share a commit; a single one does not wait. Several processes may share the file; writers take their lock at the beginning of a transaction, so that none fails half-way.
 */
import { closeSync, existsSync, fdatasync, fsyncSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import Libsql from "libsql";
import { MillraceError } from "../../domain/errors.ts";
import { translateFault } from "./faults.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./schema.ts";

type Value = string | number | null;

export interface Row {
  readonly [column: string]: Value;
}

/** A transaction that was asked for. */
interface Waiting {
  /** Writes, and answers how to tell the result once it is on disk. */
  readonly write: () => () => void;
  readonly reject: (error: unknown) => void;
}

interface Committed {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** How long a writer waits for another process, milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;
/** What a full file may take beyond its limit so that something can be removed. */
const FREEING_BYTES = 1024 * 1024;
/** What the write-ahead log may keep on disk once its content is in the file; it grows while a backup is made. */
const KEPT_LOG_BYTES = 64 * 1024 * 1024;

export class Database {
  readonly #path: string;
  readonly #limitBytes: number | null;
  readonly #connection: Libsql.Database;
  readonly #statements = new Map<string, Libsql.Statement>();
  readonly #waiting: Waiting[] = [];
  /** The write-ahead log, for syncs alone. */
  readonly #log: number;
  /** Committed, and to be told once the log is on disk. */
  #committed: Committed[] = [];
  #isSyncing = false;

  /**
   * Opens or creates the file and brings its tables up to date. A file that reaches `limitBytes` takes only what fits
   * into pages that are free; one that is larger already stays as it is. Throws `unavailable` with what to do.
   */
  constructor(path: string, limitBytes: number | null = null) {
    this.#path = path;
    this.#limitBytes = limitBytes;
    prepareFolder(path);
    let connection: Libsql.Database | undefined;
    try {
      connection = new Libsql(path);
      connection.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
      connection.pragma("journal_mode = WAL");
      // A commit alone is not on disk yet: `#sync` sees to that, without keeping the whole process waiting.
      connection.pragma("synchronous = NORMAL");
      connection.pragma(`journal_size_limit = ${KEPT_LOG_BYTES}`);
      migrate(connection, path, MIGRATIONS);
      if (limitBytes !== null) limitPages(connection, limitBytes);
      this.#log = openSync(`${path}-wal`, "r+");
      syncFolder(dirname(path));
    } catch (error) {
      connection?.close();
      throw translateFault(error, path, limitBytes);
    }
    this.#connection = connection;
  }

  /** Runs a statement that changes rows, as a transaction; answers how many. */
  run(sql: string, ...values: readonly Value[]): Promise<number> {
    return this.transaction(() => this.runNow(sql, ...values));
  }

  async get(sql: string, ...values: readonly Value[]): Promise<Row | undefined> {
    return this.#guard(() => this.getNow(sql, ...values));
  }

  async all(sql: string, ...values: readonly Value[]): Promise<readonly Row[]> {
    return this.#guard(() => this.allNow(sql, ...values));
  }

  /**
   * All or nothing; `body` is synchronous, uses the `...Now` methods and nothing else, and may be run more than once.
   * Resolves when the result is on disk.
   */
  transaction<T>(body: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const write = (): (() => void) => {
        const result = body();
        return () => resolve(result);
      };
      this.#waiting.push({ write, reject });
      if (this.#waiting.length === 1) setImmediate(() => this.#commitWaiting());
    });
  }

  /** A transaction of what makes room in the end: it may take some, beyond the limit of the file, so that a full one can be emptied. */
  freeing<T>(body: () => T): Promise<T> {
    return this.transaction(() => {
      if (this.#limitBytes === null) return body();
      limitPages(this.#connection, this.#limitBytes + FREEING_BYTES);
      try {
        return body();
      } finally {
        limitPages(this.#connection, this.#limitBytes);
      }
    });
  }

  /** What `body` reads is of one moment, although another process may write in between. */
  async read<T>(body: () => T): Promise<T> {
    return this.#guard(() => this.#within("BEGIN", body));
  }

  runNow(sql: string, ...values: readonly Value[]): number {
    return this.#prepare(sql).run(...values).changes;
  }

  getNow(sql: string, ...values: readonly Value[]): Row | undefined {
    return this.#prepare(sql).get(...values) as Row | undefined;
  }

  allNow(sql: string, ...values: readonly Value[]): readonly Row[] {
    return this.#prepare(sql).all(...values) as Row[];
  }

  /** What waits is written before. */
  async close(): Promise<void> {
    if (!this.#connection.open) return;
    this.#commitWaiting();
    while (this.#isSyncing) await new Promise((resolve) => setImmediate(resolve));
    this.#connection.close();
    closeSync(this.#log);
  }

  /**
   * Writes what was asked for since the last turn of the event loop as one transaction: a commit costs a write to the
   * disk, however much it holds. When it fails, each is tried alone, so that one fault is told to its own caller.
   */
  #commitWaiting(): void {
    const batch = this.#waiting.splice(0);
    try {
      this.#commit(batch);
    } catch (error) {
      if (batch.length === 1) batch[0]!.reject(translateFault(error, this.#path, this.#limitBytes));
      else for (const alone of batch) this.#commitAlone(alone);
    }
  }

  #commitAlone(waiting: Waiting): void {
    try {
      this.#commit([waiting]);
    } catch (error) {
      waiting.reject(translateFault(error, this.#path, this.#limitBytes));
    }
  }

  #commit(batch: readonly Waiting[]): void {
    const tell = this.#within("BEGIN IMMEDIATE", () => batch.map(({ write }) => write()));
    tell.forEach((resolve, at) => this.#committed.push({ resolve, reject: batch[at]!.reject }));
    this.#sync();
  }

  /** One sync at a time, for all that was committed before it began. */
  #sync(): void {
    if (this.#isSyncing || this.#committed.length === 0) return;
    const synced = this.#committed;
    this.#committed = [];
    this.#isSyncing = true;
    fdatasync(this.#log, (error) => {
      this.#isSyncing = false;
      this.#sync();
      for (const { resolve, reject } of synced) {
        if (error === null) resolve();
        else reject(new MillraceError("unavailable", `the store ${this.#path} cannot be written: check the disk`));
      }
    });
  }

  #within<T>(begin: string, body: () => T): T {
    this.#connection.exec(begin);
    try {
      const result = body();
      this.#connection.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#connection.inTransaction) this.#connection.exec("ROLLBACK");
      throw error;
    }
  }

  #prepare(sql: string): Libsql.Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#connection.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  #guard<T>(body: () => T): T {
    try {
      return body();
    } catch (error) {
      throw translateFault(error, this.#path, this.#limitBytes);
    }
  }
}

function limitPages(connection: Libsql.Database, limitBytes: number): void {
  const { page_size: pageBytes } = connection.prepare("PRAGMA page_size").get() as { page_size: number };
  connection.pragma(`max_page_count = ${Math.floor(limitBytes / pageBytes)}`);
}

function prepareFolder(path: string): void {
  const folder = dirname(path);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new MillraceError("unavailable", `the folder ${folder} cannot be made: choose another data directory`, {
      cause: error,
    });
  }
  if (existsSync(path) && statSync(path).isDirectory()) {
    throw new MillraceError("unavailable", `${path} is a folder: the store needs a file`);
  }
}

/** Makes the names of the files last. Where a folder cannot be synced (Windows), the system sees to that by itself. */
function syncFolder(folder: string): void {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(folder, "r");
    fsyncSync(descriptor);
  } catch {
    return;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
