/**
 * The connection to the embedded store, an SQLite file with a write-ahead log. Statements run synchronously. A write
 * resolves when its commit is on disk, and a read when everything that it may have read is: callers take both as an
 * acknowledgement of what they were told. Writes that are requested before the event loop is asked for more, or while the disk is
 * busy with an earlier commit, share a commit; a single write does not wait for others. Several processes may share the
 * file. A writer takes its lock at the beginning of a transaction, so that none fails half-way.
 */
import { closeSync, existsSync, fdatasyncSync, fsyncSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { MillraceError } from "../../domain/errors.ts";
import { SqliteConnection, type SqliteStatement } from "../../sqlite/connection.ts";
import type { DiskReserve } from "./disk-reserve.ts";
import { isFull, mayBeFull, reserved, translateFault } from "./faults.ts";
import { extendLog } from "./log-extension.ts";
import { LogSync, type LogSyncOptions } from "./log-sync.ts";
import { migrate, refuseOther, storedVersion } from "./migrations/migrate.ts";
import { isDiskReserved, reserveOf } from "./disk-reserve.ts";
import { MIGRATIONS } from "./migrations/migrations.ts";

type Value = string | number | null;

/** What a statement stores. Bytes come back as a `Uint8Array`, whatever the type of a row says: few columns have them. */
type Stored = Value | Uint8Array;

export interface Row {
  readonly [column: string]: Value;
}

interface Addition {
  readonly add: () => void;
  hasRun: boolean;
}

/** How many changes this process has begun to make to some tables; one that is rolled back counts, too. */
interface Changes {
  count: number;
}

interface Prepared {
  readonly statement: SqliteStatement;
  /** What the statement changes of the tables that are watched. */
  readonly changes: readonly Changes[];
}

/** A transaction that a caller requested and that has not run yet. */
interface RequestedWrite {
  /** Runs the statements, and answers the function that resolves the caller's promise once they are on disk. */
  readonly write: () => () => void;
  readonly reject: (error: unknown) => void;
}

export interface DatabaseOptions extends Omit<LogSyncOptions, "path"> {
  /**
   * A file that reaches this size takes only what fits into its free pages; a file that is larger already stays as it
   * is. Null or absent for no bound.
   */
  readonly limitBytes?: number | null;
  /** The reserve of the disk, which is given up when the file cannot grow; absent for none. */
  readonly disk?: Pick<DiskReserve, "giveUp" | "refusal">;
  /** The file must exist with the tables of this version, and every write rejects. */
  readonly readOnly?: boolean;
}

/** Reads the rows of a statement within one transaction. */
export type ReadNow = (sql: string, ...values: readonly Stored[]) => readonly Row[];

/** How long a writer waits for the lock of another process, milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;
/** So many writes do not wait for the end of a sync, so that a commit does not hold the event loop for long. */
const ENOUGH_FOR_A_COMMIT = 16;
/** How far a full file may grow above its limit, so that rows can be removed. */
const FREEING_BYTES = 1024 * 1024;
/**
 * The size that the write-ahead log keeps on disk once its content is in the file. The log grows while a backup is
 * made.
 */
const KEPT_LOG_BYTES = 64 * 1024 * 1024;

/** A connection for reads in pieces, opened when it is needed. */
class SnapshotLane {
  connection: SqliteConnection | undefined;
  /** Resolves when all reads that were asked for are done. */
  done: Promise<unknown> = Promise.resolve();
}

export class Database {
  readonly #path: string;
  readonly #limitBytes: number | null;
  readonly #disk: DatabaseOptions["disk"];
  readonly #connection: SqliteConnection;
  readonly #statements = new Map<string, Prepared>();
  readonly #watched: { readonly writes: RegExp; readonly changes: Changes }[] = [];
  readonly #requested: RequestedWrite[] = [];
  /** The file descriptor of the write-ahead log, used only to sync it; null for a file that is only read. */
  readonly #log: number | null;
  readonly #sync: LogSync;
  /** The connections that read in pieces: one for long reads, and one for short reads, which must not wait for those. */
  readonly #snapshots = { long: new SnapshotLane(), short: new SnapshotLane() };
  /** Rows that statements have changed since the file was opened. */
  #changed = 0;
  /** What the next transaction that is requested adds. */
  #addition: Addition | undefined;

  /** Opens or creates the file and migrates its tables. Throws `unavailable`, and says what to do. */
  constructor(path: string, { limitBytes = null, readOnly = false, disk, ...sync }: DatabaseOptions = {}) {
    this.#path = path;
    this.#disk = disk;
    this.#limitBytes = limitBytes;
    if (readOnly) {
      this.#connection = openToRead(path);
      this.#log = null;
      this.#sync = new LogSync(-1, { ...sync, path });
      return;
    }
    prepareFolder(path);
    let connection: SqliteConnection | undefined;
    try {
      connection = new SqliteConnection(path);
      connection.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
      connection.pragma("journal_mode = WAL");
      // With NORMAL a commit does not wait for the disk. `#sync` waits for it, without blocking the process.
      connection.pragma("synchronous = NORMAL");
      connection.pragma(`journal_size_limit = ${KEPT_LOG_BYTES}`);
      migrate(connection, path, MIGRATIONS);
      // After the migrations, whose sorts may be large. What a statement may have to undo is more than 64 kB for a new run, with
      // the pages of its indexes. It would go to a temporary file, which each transaction creates and removes again.
      connection.pragma("temp_store = MEMORY");
      emptyLog(connection);
      if (limitBytes !== null) limitPages(connection, limitBytes);
      this.#log = openSync(`${path}-wal`, "r+");
      if (disk !== undefined) extendLog(connection, this.#log, path);
      fdatasyncSync(this.#log);
      syncFolder(dirname(path));
    } catch (error) {
      connection?.close();
      throw translateFault(error, path, limitBytes);
    }
    this.#connection = connection;
    this.#sync = new LogSync(this.#log, { ...sync, path });
  }

  /** Runs a statement that changes rows, as a transaction; answers how many rows it changed. */
  run(sql: string, ...values: readonly Stored[]): Promise<number> {
    return this.transaction(() => this.runNow(sql, ...values));
  }

  get(sql: string, ...values: readonly Stored[]): Promise<Row | undefined> {
    return this.#onDisk(() => this.getNow(sql, ...values));
  }

  all(sql: string, ...values: readonly Stored[]): Promise<readonly Row[]> {
    return this.#onDisk(() => this.allNow(sql, ...values));
  }

  /** Reads as `get` does. `read` is synchronous, and uses only the `...Now` methods. */
  now<T>(read: () => T): Promise<T> {
    return this.#onDisk(read);
  }

  /** Counts the statements by which this process changes one of these tables. To be called before any statement runs. */
  watch(tables: readonly string[]): Readonly<Changes> {
    const changes: Changes = { count: 0 };
    const writes = new RegExp(`\\b(?:INTO|UPDATE(?: OR \\w+)?|DELETE FROM)\\s+(?:${tables.join("|")})\\b`, "i");
    this.#watched.push({ writes, changes });
    this.#statements.clear();
    return changes;
  }

  /** Another number once another process has committed something. */
  versionOfOthers(): number {
    return this.getNow("PRAGMA data_version")!["data_version"] as number;
  }

  /**
   * Stores all changes of `body` or none. `body` is synchronous, uses only the `...Now` methods, and may run more than
   * once. Resolves when its changes are on disk.
   */
  transaction<T>(body: () => T): Promise<T> {
    return this.#request(body, (write) => write());
  }

  /**
   * Calls `write`, which requests a transaction before it waits for anything. That transaction runs `add` at its end, if it
   * changes rows; `hasAdded` tells whether it did. `add` is as the body of a transaction.
   */
  async adding<T>(
    add: () => void,
    write: () => Promise<T>,
  ): Promise<{ readonly result: T; readonly hasAdded: boolean }> {
    const addition: Addition = { add, hasRun: false };
    this.#addition = addition;
    let writing: Promise<T>;
    try {
      writing = write();
    } finally {
      this.#addition = undefined;
    }
    const result = await writing;
    return { result, hasAdded: addition.hasRun };
  }

  /**
   * A transaction that frees space in the end. It may first take up to {@link FREEING_BYTES} above the limit of the
   * file, so that rows can be removed from a full file.
   */
  freeing<T>(body: () => T): Promise<T> {
    return this.#request(body, (write) => {
      if (this.#limitBytes === null) return write();
      limitPages(this.#connection, this.#limitBytes + FREEING_BYTES);
      try {
        return write();
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

  /**
   * A transaction that begins something new, such as a run. Rejects with `unavailable` while the disk is full, so that
   * what is left of it serves to end what has begun.
   */
  addition<T>(body: () => T): Promise<T> {
    const refusal = this.#disk?.refusal();
    return refusal === undefined ? this.transaction(body) : Promise.reject(refusal);
  }

  /** All that `body` reads is from one moment, even when another process writes meanwhile. */
  read<T>(body: () => T): Promise<T> {
    return this.#onDisk(() => this.#within("BEGIN", body));
  }

  /**
   * All that `body` reads is from one moment, although it may wait between two reads. Reads on a connection of their own, one
   * `body` after the other; those that are `short` do not wait for long ones.
   */
  readInPieces<T>(body: (all: ReadNow) => Promise<T>, length: "short" | "long" = "long"): Promise<T> {
    const lane = this.#snapshots[length];
    const reading = lane.done.then(() => this.#readSnapshot(lane, body));
    lane.done = reading.catch(() => {});
    return reading;
  }

  async #readSnapshot<T>(lane: SnapshotLane, body: (all: ReadNow) => Promise<T>): Promise<T> {
    const connection = (lane.connection ??= openToRead(this.#path));
    try {
      connection.exec("BEGIN");
      const statements = new Map<string, SqliteStatement>();
      const all: ReadNow = (sql, ...values) => {
        const statement = statements.get(sql) ?? connection.prepare(sql);
        statements.set(sql, statement);
        return statement.all(...values) as Row[];
      };
      // The transaction sees the moment of its first read.
      all("SELECT 1 FROM sqlite_schema LIMIT 1");
      const caughtUp = this.#sync.caughtUp();
      const result = await body(all);
      connection.exec("COMMIT");
      if (caughtUp !== null) await caughtUp;
      return result;
    } catch (error) {
      if (connection.inTransaction) connection.exec("ROLLBACK");
      throw translateFault(error, this.#path, this.#limitBytes);
    }
  }

  runNow(sql: string, ...values: readonly Stored[]): number {
    const { changes } = this.#prepare(sql).run(...values);
    this.#changed += changes;
    return changes;
  }

  getNow(sql: string, ...values: readonly Stored[]): Row | undefined {
    return this.#prepare(sql).get(...values) as Row | undefined;
  }

  allNow(sql: string, ...values: readonly Stored[]): readonly Row[] {
    return this.#prepare(sql).all(...values) as Row[];
  }

  /** Writes what was requested before, and then closes the file. */
  async close(): Promise<void> {
    if (!this.#connection.open) return;
    this.#commitRequested();
    for (const lane of Object.values(this.#snapshots)) {
      await lane.done;
      lane.connection?.close();
    }
    while (!this.#sync.isIdle && this.#sync.failure === null) await new Promise((resolve) => setImmediate(resolve));
    this.#connection.close();
    if (this.#log !== null) closeSync(this.#log);
  }

  /**
   * Commits the writes that were requested as one transaction, because a commit costs one write to the disk, whatever its
   * size. When it fails, each write is tried alone, so that a fault rejects
   * only the call that caused it.
   */
  #commitRequested(): void {
    const batch = this.#requested.splice(0);
    if (batch.length === 0) return;
    try {
      this.#commitWithRoom(batch);
    } catch (error) {
      if (batch.length === 1) batch[0]!.reject(translateFault(error, this.#path, this.#limitBytes));
      else for (const alone of batch) this.#commitAlone(alone);
    }
  }

  #commitAlone(request: RequestedWrite): void {
    try {
      this.#commitWithRoom([request]);
    } catch (error) {
      request.reject(translateFault(error, this.#path, this.#limitBytes));
    }
  }

  /** Commits, and once more when the disk was full and its reserve could be given up. */
  #commitWithRoom(batch: readonly RequestedWrite[]): void {
    try {
      this.#commit(batch);
    } catch (error) {
      if (!mayBeFull(error, this.#path) || this.#disk?.giveUp() !== true) throw error;
      this.#commit(batch);
    }
  }

  #commit(batch: readonly RequestedWrite[]): void {
    if (this.#sync.failure !== null) throw this.#sync.failure;
    if (this.#log === null) throw new MillraceError("unavailable", `${this.#path} is open for reading only`);
    const resolvers = this.#within("BEGIN IMMEDIATE", () => batch.map(({ write }) => write()));
    // Also when nothing changed: the answer may rest on an earlier commit that is not yet on disk.
    this.#sync.committed().then(
      () => resolvers.forEach((resolve) => resolve()),
      (error: unknown) => batch.forEach(({ reject }) => reject(error)),
    );
  }

  /** Reads now, and answers when everything that the read may have seen is on disk. */
  async #onDisk<T>(read: () => T): Promise<T> {
    const found = this.#guard(read);
    const caughtUp = this.#sync.caughtUp();
    if (caughtUp !== null) await caughtUp;
    return found;
  }

  /** Requests a transaction of `body` and of the addition to it, if there is one. `around` calls both. */
  #request<T>(body: () => T, around: (write: () => T) => T): Promise<T> {
    const addition = this.#addition;
    this.#addition = undefined;
    const both = addition === undefined ? body : () => this.#withAddition(addition, body);
    return new Promise<T>((resolve, reject) => {
      const write = (): (() => void) => {
        const result = around(both);
        return () => resolve(result);
      };
      this.#requested.push({ write, reject });
      if (this.#requested.length === 1) this.#planCommit();
      else if (this.#requested.length === ENOUGH_FOR_A_COMMIT) setImmediate(() => this.#commitRequested());
    });
  }

  /**
   * A commit during a sync would wait for the next sync anyway. So writes that are requested during a sync wait for its end,
   * and share one commit. Without a sync, the commit follows the code that runs now: what else came in waits for the sync.
   */
  #planCommit(): void {
    const commit = (): void => void setImmediate(() => this.#commitRequested());
    if (!this.#sync.afterwards(commit)) process.nextTick(() => this.#commitRequested());
  }

  /** A body that runs again decides again. */
  #withAddition<T>(addition: Addition, body: () => T): T {
    const before = this.#changed;
    const result = body();
    addition.hasRun = this.#changed > before;
    if (addition.hasRun) addition.add();
    return result;
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

  /** The statement, which is about to run. */
  #prepare(sql: string): SqliteStatement {
    let prepared = this.#statements.get(sql);
    if (prepared === undefined) {
      const changes = this.#watched.flatMap((watched) => (watched.writes.test(sql) ? [watched.changes] : []));
      prepared = { statement: this.#connection.prepare(sql), changes };
      this.#statements.set(sql, prepared);
    }
    for (const changes of prepared.changes) changes.count++;
    return prepared.statement;
  }

  #guard<T>(body: () => T): T {
    try {
      return body();
    } catch (error) {
      throw translateFault(error, this.#path, this.#limitBytes);
    }
  }
}

function openToRead(path: string): SqliteConnection {
  let connection: SqliteConnection | undefined;
  try {
    connection = new SqliteConnection(path, { readonly: true });
    connection.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
    refuseOther(path, storedVersion(connection), MIGRATIONS.length);
    return connection;
  } catch (error) {
    connection?.close();
    throw translateFault(error, path);
  }
}

/**
 * Writes what the log holds into the file, which is synced. A process that was killed, or that ended after a failed
 * sync, leaves commits in the log that may be in the system's memory only, and no sync of the log would write them. A
 * full disk leaves them in the log.
 */
function emptyLog(connection: SqliteConnection): void {
  try {
    connection.pragma("wal_checkpoint(TRUNCATE)");
  } catch (error) {
    if (!isFull(error)) throw error;
  }
}

function limitPages(connection: SqliteConnection, limitBytes: number): void {
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
