/** A store of SQLite with very many ended runs: a run that really ran, and copies of all its rows under other ids. */
import { SqliteConnection } from "../../src/sqlite/connection.ts";

/** Runs that are written in one commit. */
const BATCH = 10_000;
/** Between the creations of two copies, ms: 1,000,000 runs are those of twelve days. */
const BETWEEN_MS = 1_000;
/** The tables with rows of a run, and what selects them. `steps` stands for the ids of its steps. */
const TABLES: Readonly<Record<string, string>> = {
  aggregates: "root_id = :run",
  actors: "root_id = :run",
  plans: "run_id = :run",
  job_specs: "run_id = :run",
  events: "run_id = :run",
  log_heads: "step_run_id IN :steps",
  log_sizes: "step_run_id IN :steps",
  log_chunks: "step_run_id IN :steps",
  log_headers: "step_run_id IN :steps",
};
const TIMES = ["created_at", "started_at", "ended_at"];
const ULID_TIME_CHARS = 10;
const ULID_REST_CHARS = 16;

/**
 * Adds copies until the store has `count` runs. The store holds one run, which is settled and counted, and no process has it
 * open. The copies are older than the run, each by a second.
 */
export function copyRuns(path: string, count: number): void {
  const db = new SqliteConnection(path);
  try {
    // What a crash would leave is thrown away anyway.
    db.pragma("synchronous = OFF");
    const texts = copiesOf(db, count);
    for (let first = 1; first < count; first += BATCH) {
      db.exec("BEGIN");
      for (const text of texts) db.prepare(text).run(first, Math.min(count, first + BATCH));
      db.exec("COMMIT");
    }
    db.exec("PRAGMA optimize");
    db.pragma("wal_checkpoint(TRUNCATE)");
  } finally {
    db.close();
  }
}

/** One statement for each table: it copies the rows of the run for the numbers from its first value up to its second. */
function copiesOf(db: SqliteConnection, count: number): readonly string[] {
  const all = (sql: string) => db.prepare(sql).all() as readonly Record<string, string>[];
  const [run] = all("SELECT root_id FROM aggregates WHERE pipeline_id <> ''");
  if (run === undefined) throw new Error("the store has no run to copy");
  const actors = all(`SELECT id, kind FROM actors WHERE root_id = '${run["root_id"]}'`);
  const ids = new Set([run["root_id"]!, ...actors.map(({ id }) => id!)]);
  const steps = actors.filter(({ kind }) => kind === "step").map(({ id }) => `'${id}'`);
  const withNewIds = (column: string): string =>
    [...ids].reduce((text, id, at) => `replace(${text}, '${id}', ${newIdOf(id, at)})`, column);
  return Object.entries(TABLES).map(([table, which]) => {
    const columns = all(`SELECT name, type FROM pragma_table_info('${table}')`);
    const values = columns.map(({ name = "", type }) => {
      if (TIMES.includes(name)) return `${name} - (${count} - n) * ${BETWEEN_MS}`;
      // Compressed chunks are bytes, in which no id stands.
      return type === "TEXT" ? `iif(typeof(${name}) = 'text', ${withNewIds(name)}, ${name})` : name;
    });
    const where = which.replace(":run", `'${run["root_id"]}'`).replace(":steps", `(${steps.join(", ")})`);
    return `
      WITH RECURSIVE numbers (n) AS (SELECT ?1 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?2)
      INSERT INTO ${table} (${columns.map(({ name }) => name).join(", ")})
      SELECT ${values.join(", ")} FROM numbers CROSS JOIN (SELECT * FROM ${table} WHERE ${where})`;
  });
}

/** An expression for the id of the copy with the number `n`: the same kind and time, and a rest that counts. */
function newIdOf(id: string, at: number): string {
  const head = id.slice(0, id.indexOf("_") + 1 + ULID_TIME_CHARS);
  // Ids of different actors differ in the last two digits.
  return `'${head}' || printf('%0${ULID_REST_CHARS - 2}d', n) || '${String(at).padStart(2, "0")}'`;
}
