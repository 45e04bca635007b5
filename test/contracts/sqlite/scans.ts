/**
 * Each statement that the store on SQLite runs finds its rows by an index. SQLite says so of each; those that pass a whole table
 * or a whole index stand in a list, with the reason.
 */
import { expect } from "chai";
import { SqliteConnection } from "../../../src/sqlite/connection.ts";

interface Scan {
  /** The table, and the index if there is one. */
  readonly of: string;
  readonly statement: string;
}

const FIRST = "asks whether there is one, and ends with the first";
const LIST = "a list of all, of which an installation has few";
const DEAD = "the store keeps 10,000 of them at most";
/** The reasons, each by the beginning of its statement. */
const REASONS: Readonly<Record<string, string>> = {
  "DELETE FROM dead_letters WHERE id IN": DEAD,
  "SELECT * FROM ( SELECT *, sum(bytes) OVER (PARTITION BY project_id":
    "sums the bytes of all caches, for the bound of their projects",
  "SELECT 1 AS found FROM users WHERE user_id <> ?": FIRST,
  "SELECT DISTINCT name FROM plugins": LIST,
  "SELECT body FROM agents ORDER BY name": LIST,
  "SELECT body FROM dead_letters ORDER BY at": DEAD,
  "SELECT body FROM projects ORDER BY": LIST,
  "SELECT body FROM removals WHERE body IS NOT NULL": "the removals that are under way",
  "SELECT body FROM tenants ORDER BY": LIST,
  "SELECT body FROM users ORDER BY": LIST,
  "SELECT count(*) AS total FROM dead_letters": DEAD,
  "SELECT shard, epoch FROM shards": LIST,
  "SELECT value AS shard FROM json_each(?1) WHERE (EXISTS (SELECT 1 FROM inbox": FIRST,
};

/** No table of the file: rows of the statement itself, its parameters, and names that it gives to its parts. */
const OF_THE_STATEMENT = /VALUES CLAUSE$|VIRTUAL TABLE|^\(|^CONSTANT ROW$|^sqlite_schema$|^lanes$|^owing$/;

export class StatementWatch {
  readonly #seen = new Set<string>();
  readonly #end: () => void;

  /** Watches the files that are opened from now on. */
  constructor() {
    const { prepare } = SqliteConnection.prototype;
    const seen = this.#seen;
    SqliteConnection.prototype.prepare = function (this: SqliteConnection, sql) {
      seen.add(sql);
      return prepare.call(this, sql);
    };
    this.#end = () => void (SqliteConnection.prototype.prepare = prepare);
  }

  end(): void {
    this.#end();
  }

  /** What the statements until now pass as a whole. */
  scans(path: string): readonly Scan[] {
    const file = new SqliteConnection(path, { readonly: true });
    try {
      const found: Scan[] = [];
      for (const sql of [...this.#seen].filter((text) => /^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\b/.test(text))) {
        for (const { detail } of file.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { readonly detail: string }[]) {
          const of = /^SCAN (.*)$/.exec(detail)?.[1];
          if (of !== undefined && !OF_THE_STATEMENT.test(of)) {
            found.push({ of, statement: sql.replaceAll(/\s+/g, " ").trim() });
          }
        }
      }
      return found;
    } finally {
      file.close();
    }
  }
}

/** `watch`: of all contracts before this one. */
export function sqliteScansContract(given: () => { readonly watch: StatementWatch; readonly path: string }): void {
  describe("the statements of all contracts", () => {
    it("pass no whole table or index, except for a reason", () => {
      const { watch, path } = given();
      const scans = watch.scans(path);
      const reasons = Object.keys(REASONS);
      const isOf = ({ statement }: Scan, beginning: string) => statement.startsWith(beginning);
      expect(scans.filter((scan) => !reasons.some((beginning) => isOf(scan, beginning)))).to.deep.equal([]);
      const idle = reasons.filter((beginning) => !scans.some((scan) => isOf(scan, beginning)));
      expect(idle, "reasons for statements that no contract runs, or that have an index").to.deep.equal([]);
    });
  });
}
