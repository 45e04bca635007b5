/** A store of SQLite with as many rows as a benchmark asks for. */
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { DEFAULT_TENANT, type HookId, newId, type PipelineId, type ProjectId } from "../../src/domain/ids.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import type { AuditEntry } from "../../src/stores/ports/audit.ts";
import { openSqliteStores } from "../../src/stores/sqlite/open.ts";
import { deliveryOf } from "../../test/contracts/delivery-store.ts";
import { hookOf, receivedOf } from "../../test/contracts/hook-store.ts";
import { sampleAggregate, sampleApproval, saveOf } from "../../test/contracts/samples.ts";
import { uploadRecord } from "../../test/contracts/upload-store.ts";
import { pipelineRecord } from "../../test/support/pipelines.ts";

/** The first row of each kind is of this time; each further one is a second later. */
export const FIRST_AT = 1_700_000_000_000;
/** So many runs, deliveries and so on of each store are rare ones: have another status, user or ref than all others. */
const RARE_ROWS = 20;

const LANE = "whk_bench";
const hook = hookOf();
/** An event of a job, and one try that was answered. */
const SENT = {
  body: JSON.stringify({ type: "svc.job.success", data: { text: "x".repeat(1_200) } }),
  attempts: 1,
  tries: [
    {
      at: FIRST_AT,
      durationMs: 40,
      status: 204,
      error: "",
      request: { url: "https://a.example/", headers: {} },
      answer: "",
    },
  ],
};

export interface FilledStore {
  readonly runs: number;
  readonly pipelineId: PipelineId;
  /** The lane of all deliveries. */
  readonly lane: string;
  readonly hookId: HookId;
  readonly stores: Stores;
}

/** Fills and opens a store in `folder`. All runs are of one pipeline. The rows of a kind are copies of one row. */
export async function fillStore(folder: string, runs: number): Promise<FilledStore> {
  const path = join(folder, `${runs}.db`);
  const pipelineId = newId("pl");
  await fill(path, runs, sampleAggregate({ pipelineId, now: FIRST_AT }));
  return { runs, pipelineId, lane: LANE, hookId: hook.hookId, stores: await openSqliteStores({ path }) };
}

async function fill(path: string, runs: number, original: ReturnType<typeof sampleAggregate>): Promise<void> {
  const stores = await openSqliteStores({ path });
  const { projectId } = original.head.summary;
  await stores.aggregates.create(original);
  await stores.aggregates.save(saveOf(original, {}, [sampleApproval(original, { stage: 0 }, FIRST_AT)]));
  await stores.audit.append(entryOf(projectId));
  await stores.uploads.begin(uploadRecord({ projectId, createdAt: FIRST_AT, usedAt: FIRST_AT, expiresAt: FIRST_AT }));
  await stores.deliveries.tell([deliveryOf(LANE, { projectId, state: "delivered", ...SENT })], []);
  await stores.hooks.take(receivedOf(hook, { state: "done" }), "{}");
  await stores.pipelines.create(pipelineRecord(newId("pl"), { projectId, createdAt: FIRST_AT }));
  await stores.close();
  const db = new DatabaseSync(path);
  const every = Math.max(3, Math.floor(runs / RARE_ROWS));
  const at = `${FIRST_AT} + n * 1000`;
  const user = `CASE WHEN n % ${every} = 1 THEN 'rare' ELSE 'frequent' END`;
  const ref = `CASE WHEN n % ${every} = 2 THEN 'rare' ELSE 'main' END`;
  copy(db, "aggregates", runs, {
    root_id: "'run_' || printf('%026d', n)",
    created_at: at,
    status: `CASE WHEN n % ${every} = 0 THEN 'failed' ELSE 'success' END`,
    origin: `json_set(origin, '$.triggeredBy', ${user}, '$.trigger.ref', ${ref}, '$.trigger.kind', 'manual')`,
  });
  const approval = { id: "'apr_' || printf('%026d', n)", root_id: "'run_' || printf('%026d', n)", requested_at: at };
  copy(db, "actors", runs / 4, approval, "kind = 'approval'");
  copy(db, "audit", runs, { audit_id: "'aud_' || printf('%026d', n)", at });
  copy(db, "uploads", 10_000, { upload_id: "'upl_' || printf('%026d', n)", created_at: at });
  const state = (often: string) => `CASE WHEN n % ${every} = 0 THEN 'failed' ELSE '${often}' END`;
  const sent = { run_id: "'run_' || printf('%026d', n)", created_at: at, state: state("delivered") };
  copy(db, "deliveries", runs / 4, { delivery_id: "'dlv_' || printf('%026d', n)", ...sent });
  const received = { sender_id: "'sender ' || n", received_at: at, state: state("done") };
  copy(db, "hook_deliveries", runs / 4, { delivery_id: "'dlv_' || printf('%026d', n)", ...received });
  const pipeline = { pipeline_id: "'pl_' || printf('%026d', n)", name: "'p' || n", search_name: "'p' || n" };
  copy(db, "pipelines", 10_000, { ...pipeline, created_at: at });
  db.exec("PRAGMA optimize");
  db.close();
}

/** Copies one row of a table; `changed` has the expressions of the columns that differ, in which `n` counts. */
function copy(
  db: InstanceType<typeof DatabaseSync>,
  table: string,
  count: number,
  changed: Readonly<Record<string, string>>,
  which = "true",
): void {
  const columns = (db.prepare(`SELECT name FROM pragma_table_info('${table}')`).all() as { name: string }[]).map(
    ({ name }) => name,
  );
  db.exec(`
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${Math.floor(count) - 1})
    INSERT INTO ${table} (${columns.join(", ")})
    SELECT ${columns.map((name) => changed[name] ?? name).join(", ")}
    FROM numbers, (SELECT * FROM ${table} WHERE ${which} LIMIT 1);
  `);
}

function entryOf(projectId: ProjectId): AuditEntry {
  return {
    auditId: newId("aud"),
    at: FIRST_AT,
    outcome: "done",
    operation: "bench",
    actor: { kind: "user", id: newId("usr"), name: "ann", proof: null },
    onBehalfOf: null,
    tenantId: DEFAULT_TENANT,
    projectId,
    object: { kind: "project", id: projectId, name: "one" },
    from: { door: "http", address: "10.0.0.1", userAgent: "bench" },
    requestId: null,
    before: null,
    after: { name: "one" },
    reason: null,
    leftOut: 0,
  };
}
