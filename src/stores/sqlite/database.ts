/**
 * The connection to the embedded store, an SQLite file with a write-ahead log. Statements run synchronously. A write
 * resolves when its commit is on disk. Writes that are requested in one turn of the event loop share a commit; a single
 * write does not wait for others. Several processes may share the file. A writer takes its lock at the beginning of a
 * transaction, so that none fails half-way.
 */
import { closeSync, existsSync, fdatasync, fsyncSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import Libsql from "libsql";
import { MillraceError } from "../../domain/errors.ts";
import { reserved, translateFault } from "./faults.ts";
import { migrate } from "./migrate.ts";
import { isDiskReserved, reserveOf } from "./reserve.ts";
import { MIGRATIONS } from "./schema.ts";

type Value = string | number | null;

export interface Row {
  readonly [column: string]: Value;
}

/** A transaction that a caller requested and that has not run yet. */
interface RequestedWrite {
  /** Runs the statements, and answers the function that resolves the caller's promise once they are on disk. */
  readonly write: () => () => void;
  readonly reject: (error: unknown) => void;
}

/** A transaction that is committed, but may not be on disk yet. */
interface CommittedWrite {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** How long a writer waits for the lock of another process, milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;
/** How far a full file may grow above its limit, so that rows can be removed. */
const FREEING_BYTES = 1024 * 1024;
/**
 * The size that the write-ahead log keeps on disk once its content is in the file. The log grows while a backup is
 * made.
 */
const KEPT_LOG_BYTES = 64 * 1024 * 1024;

export class Database {
  readonly #path: string;
  readonly #limitBytes: number | null;
  readonly #connection: Libsql.Database;
  readonly #statements = new Map<string, Libsql.Statement>();
  readonly #requested: RequestedWrite[] = [];
  /** The file descriptor of the write-ahead log, used only to sync it. */
  readonly #log: number;
  /** Committed writes whose callers are answered once the log is on disk. */
  #committed: CommittedWrite[] = [];
  #isSyncing = false;

  /**
   * Opens or creates the file and migrates its tables. A file that reaches `limitBytes` takes only what fits into its
   * free pages; a file that is larger already stays as it is. Throws `unavailable`, and says what to do.
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
      // With NORMAL a commit does not wait for the disk. `#sync` waits for it, without blocking the process.
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

  /** Runs a statement that changes rows, as a transaction; answers how many rows it changed. */
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
   * Stores all changes of `body` or none. `body` is synchronous, uses only the `...Now` methods, and may run more than
   * once. Resolves when its changes are on disk.
   */
  transaction<T>(body: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const write = (): (() => void) => {
        const result = body();
        return () => resolve(result);
      };
      this.#requested.push({ write, reject });
      if (this.#requested.length === 1) setImmediate(() => this.#commitRequested());
    });
  }

  /**
   * A transaction that frees space in the end. It may first take up to {@link FREEING_BYTES} above the limit of the
   * file, so that rows can be removed from a full file.
   */
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

  /**
   * A transaction that adds bulk data, such as log lines. Rejects with `unavailable` when only the reserve is left, which
   * state needs.
   */
  bulk<T>(body: () => T): Promise<T> {
    if (!this.#isReserved()) return this.transaction(body);
    return Promise.reject(new MillraceError("unavailable", reserved(this.#path, this.#limitBytes)));
  }

  /** All that `body` reads is from one moment, even when another process writes meanwhile. */
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

  /** Writes what was requested before, and then closes the file. */
  async close(): Promise<void> {
    if (!this.#connection.open) return;
    this.#commitRequested();
    while (this.#isSyncing) await new Promise((resolve) => setImmediate(resolve));
    this.#connection.close();
    closeSync(this.#log);
  }

  /**
   * Commits the writes that were requested since the last turn of the event loop as one transaction, because a commit
   * costs one write to the disk, whatever its size. When it fails, each write is tried alone, so that a fault rejects
   * only the call that caused it.
   */
  #commitRequested(): void {
    const batch = this.#requested.splice(0);
    try {
      this.#commit(batch);
    } catch (error) {
      if (batch.length === 1) batch[0]!.reject(translateFault(error, this.#path, this.#limitBytes));
      else for (const alone of batch) this.#commitAlone(alone);
    }
  }

  #commitAlone(request: RequestedWrite): void {
    try {
      this.#commit([request]);
    } catch (error) {
      request.reject(translateFault(error, this.#path, this.#limitBytes));
    }
  }

  #commit(batch: readonly RequestedWrite[]): void {
    const resolvers = this.#within("BEGIN IMMEDIATE", () => batch.map(({ write }) => write()));
    resolvers.forEach((resolve, at) => this.#committed.push({ resolve, reject: batch[at]!.reject }));
    this.#sync();
  }

  /** Syncs the log, one sync at a time. Each sync covers everything that was committed before it began. */
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

  #isReserved(): boolean {
    if (isDiskReserved(dirname(this.#path))) return true;
    if (this.#limitBytes === null) return false;
    const read = (name: string) => this.getNow(`PRAGMA ${name}`)![name] as number;
    const usedBytes = (read("page_count") - read("freelist_count")) * read("page_size");
    return this.#limitBytes - usedBytes < reserveOf(this.#limitBytes);
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

/**
 * Makes the names of the files in a folder durable. Where a folder cannot be synced (Windows), the system does that
 * itself.
 */
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
