/**
 * `node --import tsx bench/lists.ts [RUNS]`: how long lists and searches take on SQLite, by default with 1,000,000 runs of
 * one pipeline, and for how long one page holds the event loop at most. The rows are copies of one row. Ends with 1 when a
 * page takes longer than {@link BOUND_MS} in the median, or holds the event loop for longer than {@link BOUND_HOLD_MS}.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { DatabaseSync } from "@photostructure/sqlite";
import { asId, DEFAULT_TENANT, newId, type ProjectId, type RunId } from "../src/domain/ids.ts";
import type { ApprovalFilter, RunFilter, RunPageRequest, RunSearch } from "../src/stores/ports/aggregates.ts";
import type { AuditEntry, AuditFilter } from "../src/stores/ports/audit.ts";
import { type ListKey, type ListPlace, MAX_PASSED, type PlacedPageRequest } from "../src/stores/ports/pages.ts";
import type { PipelineFilter } from "../src/stores/ports/pipelines.ts";
import type { UploadRecord } from "../src/stores/ports/uploads.ts";
import { openSqliteStores } from "../src/stores/sqlite/open.ts";
import { loadAverage } from "./machine.ts";
import { deliveryOf } from "../test/contracts/delivery-store.ts";
import { hookOf, receivedOf } from "../test/contracts/hook-store.ts";
import { sampleAggregate, sampleApproval, saveOf } from "../test/contracts/samples.ts";
import { pipelineRecord } from "../test/support/pipelines.ts";

const ROUNDS = 30;
/** Other programs of the machine hold up this one, too: a bound is missed by a list that misses it in each attempt. */
const ATTEMPTS = 3;
const BOUND_MS = 20;
const BOUND_HOLD_MS = 5;
const FIRST_AT = 1_700_000_000_000;
/** One run of so many has the rare status. */
const RARE = 50_000;

const LANE = "whk_bench";
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

let longestHold = 0;
const missed: string[] = [];
const hook = hookOf();
const runs = Number(process.argv[2] ?? 1_000_000);
const folder = await mkdtemp(join(tmpdir(), "millrace-lists-"));
try {
  const path = join(folder, "millrace.db");
  const pipelineId = newId("pl");
  await fill(path, sampleAggregate({ pipelineId, now: FIRST_AT }));
  const stores = await openSqliteStores({ path });
  const { aggregates } = stores;
  const middle: ListKey = { at: FIRST_AT + Math.floor(runs / 2) * 1_000, id: "run_" };
  const page = { page: 1, pageSize: 100, descending: true };
  const lists: readonly (readonly [string, RunFilter, RunPageRequest])[] = [
    ["the first page", { pipelineId }, page],
    ["the first page, oldest first", { pipelineId }, { ...page, descending: false }],
    ["a page in the middle, by `after`", { pipelineId }, { ...page, after: middle }],
    ["the last page, by `after`", { pipelineId }, { ...page, after: { at: FIRST_AT + 100_000, id: "run_" } }],
    ["a frequent status", { pipelineId, status: "success" }, page],
    ["a frequent status, in the middle", { pipelineId, status: "success" }, { ...page, after: middle }],
    ["a rare status", { pipelineId, status: "failed" }, page],
    ["page 100", { pipelineId }, { ...page, page: 100 }],
    ["the deepest page, by `page`", { pipelineId }, { ...page, page: MAX_PASSED / page.pageSize + 1 }],
    ["a page that is too deep", { pipelineId }, { ...page, page: MAX_PASSED / page.pageSize + 2 }],
  ];
  const projectIds = [asId<ProjectId>("default")];
  const second = projectIds.concat(asId<ProjectId>("other"));
  const searches: readonly (readonly [string, RunSearch, ListKey?])[] = [
    ["runs of all pipelines", {}],
    ["of one project, in the middle", { projectIds }, middle],
    ["of two projects and three statuses", { projectIds: second, statuses: ["failed", "running", "paused"] }],
    ["a rare status and a frequent one", { statuses: ["failed", "success"] }],
    ["by a user who has triggered few", { triggeredBy: "rare" }],
    ["by a user who has triggered most", { triggeredBy: "frequent" }, middle],
    ["of a rare ref", { ref: "rare" }],
    ["of a ref, and by a user, who have nothing in common", { ref: "main", triggeredBy: "rare" }],
    ["of a frequent ref and a trigger that no run has", { ref: "main", trigger: "event" }],
    ["of a trigger that no run has", { trigger: "event" }],
    ["of an hour", { from: middle.at, before: middle.at + 3_600_000 }],
    ["of twenty projects, by an hour", { from: middle.at, before: middle.at + 3_600_000, projectIds: many(20) }],
  ];
  const { audit, deliveries, hooks, pipelines, uploads } = stores;
  const approvals = async (filter: Omit<ApprovalFilter, "status">, request: PlacedPageRequest = page) => {
    return aggregates.listApprovals({ ...filter, status: "pending" }, request);
  };
  const entries = (filter: AuditFilter, after?: ListKey) => audit.page(filter, { limit: 100, descending: true, after });
  const ofPipelines = (filter: PipelineFilter, sort: "createdAt" | "name", after?: ListPlace) =>
    pipelines.list(filter, { ...page, sort, after });
  const byPlace = { ...page, after: middle };
  const others: readonly (readonly [string, () => Promise<unknown>])[] = [
    ["approvals: the pending ones", () => approvals({})],
    ["approvals: of a pipeline, in the middle", () => approvals({ pipelineId }, byPlace)],
    ["approvals: of a project, in the middle", () => approvals({ projectId: projectIds[0]! }, byPlace)],
    ["approvals: of twenty projects", () => approvals({ projectIds: many(20) })],
    ["audit: the newest entries", () => entries({ area: "installation" })],
    ["audit: of a tenant, in the middle", () => entries({ area: { tenantId: DEFAULT_TENANT } }, middle)],
    ["audit: of an operation", () => entries({ area: "installation", operation: "bench" }, middle)],
    ["audit: refused calls, which there are none of", () => entries({ area: "installation", outcome: "refused" })],
    ["uploads: the newest", () => uploads.list(projectIds[0]!, 100, undefined)],
    ["uploads: in the middle", () => uploads.list(projectIds[0]!, 100, middle)],
    ["deliveries: the newest", () => deliveries.list(LANE, {}, 100, undefined)],
    ["deliveries: in the middle", () => deliveries.list(LANE, {}, 100, middle)],
    ["deliveries: a rare state", () => deliveries.list(LANE, { state: "failed" }, 100, middle)],
    ["deliveries: about one run", () => deliveries.list(LANE, { runId: asId<RunId>("run_none") }, 100, undefined)],
    ["deliveries of a hook: the newest", () => hooks.listDeliveries(hook.hookId, {}, 100, undefined)],
    ["deliveries of a hook: a rare state", () => hooks.listDeliveries(hook.hookId, { state: "failed" }, 100, middle)],
    ["pipelines: by name", () => ofPipelines({}, "name")],
    ["pipelines: of a project, in the middle", () => ofPipelines({ projectIds }, "createdAt", middle)],
    ["pipelines: with a part of the name", () => ofPipelines({ name: "99" }, "createdAt")],
  ];
  console.log(`${runs} runs of one pipeline, pages of ${page.pageSize}; load average ${loadAverage()}\n`);
  console.log("page | median ms | worst ms | longest hold of the event loop, ms\n--- | ---: | ---: | ---:");
  for (const [name, filter, request] of lists) await measure(name, () => aggregates.listRuns(filter, request));
  for (const [name, search, after] of searches) {
    await measure(`search: ${name}`, () => aggregates.findRuns(search, { limit: page.pageSize, after }));
  }
  await measure("the newest runs of 100 pipelines", () => aggregates.newestRuns(Array(100).fill(pipelineId), 5));
  for (const [name, list] of others) await measure(name, list);
  await stores.close();
  console.log(
    `\nlongest hold of the event loop: ${longestHold.toFixed(1)} ms; bounds: ${BOUND_MS} ms, ${BOUND_HOLD_MS} ms held`,
  );
  for (const name of missed) console.error(`missed its bound: ${name}`);
  if (missed.length > 0) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

function many(count: number): readonly ProjectId[] {
  return Array.from({ length: count }, (_, at) => asId<ProjectId>(at === 0 ? "default" : `prj_${at}`));
}

async function measure(name: string, list: () => Promise<unknown>): Promise<void> {
  let best = await attempt(list);
  for (let count = 1; count < ATTEMPTS && !isWithin(best); count++) {
    const next = await attempt(list);
    if (isWithin(next) || next.held < best.held) best = next;
  }
  const { median, worst, held } = best;
  console.log(`${name} | ${median.toFixed(1)} | ${worst.toFixed(1)} | ${held.toFixed(1)}`);
  longestHold = Math.max(longestHold, held);
  if (!isWithin(best)) missed.push(name);
}

interface Measured {
  readonly median: number;
  readonly worst: number;
  readonly held: number;
}

function isWithin({ median, held }: Measured): boolean {
  return median < BOUND_MS && held < BOUND_HOLD_MS;
}

async function attempt(list: () => Promise<unknown>): Promise<Measured> {
  const times: number[] = [];
  let held = 0;
  await list();
  for (let round = 0; round < ROUNDS; round++) {
    const begin = performance.now();
    held = Math.max(held, await longestTurn(list));
    times.push(performance.now() - begin);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  times.sort((a, b) => a - b);
  return { median: times[ROUNDS / 2]!, worst: times.at(-1)!, held };
}

/**
 * The longest turn of the event loop, milliseconds. What other programs take of a turn does not count, nor what other threads of
 * this process do meanwhile: a turn is as long as its processor time or its duration, whichever is less.
 */
async function longestTurn(list: () => Promise<unknown>): Promise<number> {
  const mark = () => {
    const { user, system } = process.cpuUsage();
    return { at: performance.now(), cpuMs: (user + system) / 1_000 };
  };
  let longest = 0;
  let isDone = false;
  let from = mark();
  const work = list().finally(() => (isDone = true));
  while (!isDone) {
    await nextTurn();
    const now = mark();
    longest = Math.max(longest, Math.min(now.at - from.at, now.cpuMs - from.cpuMs));
    from = now;
  }
  await work;
  return longest;
}

async function fill(path: string, original: ReturnType<typeof sampleAggregate>): Promise<void> {
  const stores = await openSqliteStores({ path });
  const { projectId } = original.head.summary;
  await stores.aggregates.create(original);
  await stores.aggregates.save(saveOf(original, {}, [sampleApproval(original, { stage: 0 }, FIRST_AT)]));
  await stores.audit.append(entryOf(projectId));
  await stores.uploads.begin(uploadOf(projectId));
  await stores.deliveries.tell([deliveryOf(LANE, { projectId, state: "delivered", ...SENT })], []);
  await stores.hooks.take(receivedOf(hook, { state: "done" }), "{}");
  await stores.pipelines.create(pipelineRecord(newId("pl"), { projectId, createdAt: FIRST_AT }));
  await stores.close();
  const db = new DatabaseSync(path);
  const at = `${FIRST_AT} + n * 1000`;
  const user = `CASE WHEN n % ${RARE} = 1 THEN 'rare' ELSE 'frequent' END`;
  const ref = `CASE WHEN n % ${RARE} = 2 THEN 'rare' ELSE 'main' END`;
  copy(db, "aggregates", runs, {
    root_id: "'run_' || printf('%026d', n)",
    created_at: at,
    status: `CASE WHEN n % ${RARE} = 0 THEN 'failed' ELSE 'success' END`,
    origin: `json_set(origin, '$.triggeredBy', ${user}, '$.trigger.ref', ${ref}, '$.trigger.kind', 'manual')`,
  });
  const approval = { id: "'apr_' || printf('%026d', n)", root_id: "'run_' || printf('%026d', n)", requested_at: at };
  copy(db, "actors", runs / 4, approval, "kind = 'approval'");
  copy(db, "audit", runs, { audit_id: "'aud_' || printf('%026d', n)", at });
  copy(db, "uploads", 10_000, { upload_id: "'upl_' || printf('%026d', n)", created_at: at });
  const state = (often: string) => `CASE WHEN n % ${RARE} = 0 THEN 'failed' ELSE '${often}' END`;
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

function uploadOf(projectId: ProjectId): UploadRecord {
  const times = { createdAt: FIRST_AT, usedAt: FIRST_AT, expiresAt: FIRST_AT };
  return {
    uploadId: newId("upl"),
    projectId,
    name: "file",
    type: "text/plain",
    state: "uploading",
    sizeBytes: 100,
    sha256: "",
    sniffedType: null,
    typeMatches: true,
    createdBy: "ann",
    writer: "bench",
    ...times,
  };
}
