/**
 * The connection to the embedded store: synchronous, write-ahead log, every commit on disk before it counts. Several
 * processes may share the file; writers take their lock at the beginning of a transaction, so that none fails half-way.
 */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import Libsql from "libsql";
import { MillraceError } from "../../domain/errors.ts";
import { MIGRATIONS } from "./schema.ts";

type Value = string | number | null;

export interface Row {
  readonly [column: string]: Value;
}

/** How long a writer waits for another process, milliseconds. */
const BUSY_TIMEOUT_MS = 5_000;

export class Database {
  readonly #path: string;
  readonly #connection: Libsql.Database;
  readonly #statements = new Map<string, Libsql.Statement>();

  /** Opens or creates the file and brings its tables up to date. Throws `unavailable` with what to do. */
  constructor(path: string) {
    this.#path = path;
    prepareFolder(path);
    try {
      this.#connection = new Libsql(path);
      this.#connection.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`);
      this.#connection.pragma("journal_mode = WAL");
      this.#connection.pragma("synchronous = FULL");
      this.#migrate();
    } catch (error) {
      throw this.#translate(error);
    }
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

  #migrate(): void {
    this.#connection.exec("BEGIN IMMEDIATE");
    const { user_version: version } = this.#connection.prepare("PRAGMA user_version").get() as { user_version: number };
    if (version > MIGRATIONS.length) {
      this.#connection.exec("ROLLBACK");
      throw new MillraceError(
        "unavailable",
        `${this.#path} was written by a newer version (schema ${version}; this one knows ${MIGRATIONS.length}): start that version or a newer one`,
      );
    }
    for (const migration of MIGRATIONS.slice(version)) this.#connection.exec(migration);
    this.#connection.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
    this.#connection.exec("COMMIT");
  }

  #guard<T>(body: () => T): T {
    try {
      return body();
    } catch (error) {
      throw this.#translate(error);
    }
  }

  #translate(error: unknown): unknown {
    if (!(error instanceof Libsql.SqliteError)) return error;
    const advice = ADVICE[error.code.split("_").slice(0, 2).join("_")];
    if (advice === undefined) return error;
    return new MillraceError("unavailable", `the store ${this.#path} ${advice}`, { cause: error });
  }
}

const ADVICE: Readonly<Record<string, string>> = {
  SQLITE_FULL: "is full: free disk space; nothing that was acknowledged is lost",
  SQLITE_READONLY: "cannot be written: check the owner and the mode of the file and its folder",
  SQLITE_CANTOPEN: "cannot be opened: check that its folder exists and may be written",
  SQLITE_PERM: "cannot be opened: check the owner and the mode of the file",
  SQLITE_BUSY: "is locked by another process: end that process, or try again later",
  SQLITE_IOERR: "cannot be read or written: check the disk",
  SQLITE_NOTADB: "is no database of millrace: choose another data directory",
  SQLITE_CORRUPT: "is damaged: restore it from a backup",
};

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
