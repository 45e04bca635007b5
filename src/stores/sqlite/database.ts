/**
 * The connection to the embedded store: synchronous, write-ahead log, every commit on disk before it counts. Several
 * processes may share the file; writers take their lock at the beginning of a transaction, so that none fails half-way.
 */
import { existsSync, mkdirSync, statSync } from "node:fs";
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

/** How long a writer waits for another process, milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;
/** What the write-ahead log may keep on disk once its content is in the file; it grows while a backup is made. */
const KEPT_LOG_BYTES = 64 * 1024 * 1024;

export class Database {
  readonly #path: string;
  readonly #limitBytes: number | null;
  readonly #connection: Libsql.Database;
  readonly #statements = new Map<string, Libsql.Statement>();

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
      connection.pragma("synchronous = FULL");
      connection.pragma(`journal_size_limit = ${KEPT_LOG_BYTES}`);
      migrate(connection, path, MIGRATIONS);
      if (limitBytes !== null) limitPages(connection, limitBytes);
    } catch (error) {
      connection?.close();
      throw translateFault(error, path, limitBytes);
    }
    this.#connection = connection;
  }

  /** Runs a statement that changes rows; answers how many. */
  async run(sql: string, ...values: readonly Value[]): Promise<number> {
    return this.#guard(() => this.runNow(sql, ...values));
  }

  async get(sql: string, ...values: readonly Value[]): Promise<Row | undefined> {
    return this.#guard(() => this.getNow(sql, ...values));
  }

  async all(sql: string, ...values: readonly Value[]): Promise<readonly Row[]> {
    return this.#guard(() => this.allNow(sql, ...values));
  }

  /** All or nothing; `body` is synchronous and uses the `...Now` methods. */
  async transaction<T>(body: () => T): Promise<T> {
    return this.#guard(() => {
      this.#connection.exec("BEGIN IMMEDIATE");
      try {
        const result = body();
        this.#connection.exec("COMMIT");
        return result;
      } catch (error) {
        if (this.#connection.inTransaction) this.#connection.exec("ROLLBACK");
        throw error;
      }
    });
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

  close(): void {
    if (this.#connection.open) this.#connection.close();
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
