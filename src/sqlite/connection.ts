/** An open SQLite file. It hides which binding of SQLite the process uses, and the differences between them. */
import { type Binding, sqliteBinding } from "./binding.ts";

type Database = InstanceType<Binding>;
type Statement = ReturnType<Database["prepare"]>;

export type SqliteValue = string | number | Uint8Array | null;

/**
 * SQLite plans a statement by the value of a bare parameter behind LIMIT, and so prepares the statement again each time that a
 * value is bound. That takes longer than most reads do. It does not look into an expression.
 */
const BARE_LIMIT = /\bLIMIT (?=\?)/g;

/** Primary result codes that callers tell apart. Source: https://sqlite.org/rescode.html */
const BUSY = 5;

export class SqliteConnection {
  readonly #database: Database;

  /** Opens or creates the file; with `readonly` the file must exist. Throws an error with a {@link resultCode}. */
  constructor(path: string, { readonly: readOnly = false }: { readonly readonly?: boolean } = {}) {
    const Opened = sqliteBinding();
    this.#database = new Opened(path, { readOnly });
  }

  get open(): boolean {
    return this.#database.isOpen;
  }

  get inTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /** Runs one or more statements, and drops their rows. */
  exec(sql: string): void {
    this.#database.exec(sql);
  }

  /** Sets or runs a pragma, for instance `journal_mode = WAL`. */
  pragma(text: string): void {
    this.#database.exec(`PRAGMA ${text}`);
  }

  prepare(sql: string): SqliteStatement {
    return new SqliteStatement(this.#database, sql);
  }

  /** Also ends the statements. Idempotent. */
  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }
}

/**
 * A prepared statement. Integers above 2^53 are read as the nearest number. Columns without a type store numbers as
 * floating point.
 */
export class SqliteStatement {
  readonly #database: Database;
  readonly #sql: string;
  readonly #statement: Statement;

  constructor(database: Database, sql: string) {
    this.#database = database;
    this.#sql = sql.replace(BARE_LIMIT, "LIMIT 0 + ");
    this.#statement = database.prepare(this.#sql);
  }

  run(...values: readonly SqliteValue[]): { readonly changes: number } {
    return { changes: Number(this.#statement.run(...values).changes) };
  }

  get(...values: readonly SqliteValue[]): unknown {
    try {
      return this.#statement.get(...values);
    } catch (error) {
      return rounded(this.#large(error).get(...values));
    }
  }

  all(...values: readonly SqliteValue[]): unknown[] {
    try {
      return this.#statement.all(...values);
    } catch (error) {
      return this.#large(error)
        .all(...values)
        .map(rounded);
    }
  }

  /**
   * A statement that reads what a binding refuses to read as a number. Throws the error itself when it is another one,
   * and when the statement writes, because that must not be repeated.
   */
  #large(error: unknown): Statement {
    // The package gives a list's error no code.
    const isTooLarge = (error as Error).message.startsWith(
      "Value is too large to be represented as a JavaScript number",
    );
    if (!isTooLarge || !/^\s*(SELECT|PRAGMA)\b/i.test(this.#sql)) throw error;
    const again = this.#database.prepare(this.#sql);
    again.setReadBigInts(true);
    return again;
  }
}

/** SQLite's extended result code of an error; undefined for an error that is not SQLite's. */
export function resultCode(error: unknown): number | undefined {
  return (error as { errcode?: number }).errcode;
}

/** True when another connection holds a lock that is in the way. */
export function isLocked(error: unknown): boolean {
  return ((resultCode(error) ?? 0) & 0xff) === BUSY;
}

function rounded(row: unknown): unknown {
  for (const [name, value] of Object.entries(row ?? {})) {
    if (typeof value === "bigint") (row as Record<string, unknown>)[name] = Number(value);
  }
  return row;
}
