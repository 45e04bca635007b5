/**
 * `node --import tsx bench/lists.ts [RUNS]`: how long lists and searches of runs take on SQLite, by default of 1,000,000
 * runs of one pipeline, and for how long one page holds the event loop at most. The heads are copies of one head.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { DatabaseSync } from "@photostructure/sqlite";
import { asId, newId, type ProjectId } from "../src/domain/ids.ts";
import type { RunFilter, RunPageRequest, RunSearch } from "../src/stores/ports/aggregates.ts";
import type { ListKey } from "../src/stores/ports/pages.ts";
import { openSqliteStores } from "../src/stores/sqlite/open.ts";
import { loadAverage } from "./machine.ts";
import { sampleAggregate } from "../test/contracts/samples.ts";

const ROUNDS = 30;
const FIRST_AT = 1_700_000_000_000;
/** One run of so many has the rare status. */
const RARE = 50_000;

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
    ["the page in the middle, by `page`", { pipelineId }, { ...page, page: Math.floor(runs / 200) }],
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
  console.log(`${runs} runs of one pipeline, pages of ${page.pageSize}; load average ${loadAverage()}\n`);
  console.log("page | median ms | worst ms | longest hold of the event loop, ms\n--- | ---: | ---: | ---:");
  for (const [name, filter, request] of lists) await measure(name, () => aggregates.listRuns(filter, request));
  for (const [name, search, after] of searches) {
    await measure(`search: ${name}`, () => aggregates.findRuns(search, { limit: page.pageSize, after }));
  }
  await measure("the newest runs of 100 pipelines", () => aggregates.newestRuns(Array(100).fill(pipelineId), 5));
  await stores.close();
} finally {
  await rm(folder, { recursive: true, force: true });
}

function many(count: number): readonly ProjectId[] {
  return Array.from({ length: count }, (_, at) => asId<ProjectId>(at === 0 ? "default" : `prj_${at}`));
}

async function measure(name: string, list: () => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  const loop = monitorEventLoopDelay({ resolution: 1 });
  await list();
  loop.enable();
  for (let round = 0; round < ROUNDS; round++) {
    const begin = performance.now();
    await list();
    times.push(performance.now() - begin);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  loop.disable();
  times.sort((a, b) => a - b);
  const held = Math.max(0, loop.max / 1e6 - 1);
  console.log(`${name} | ${times[ROUNDS / 2]!.toFixed(1)} | ${times.at(-1)!.toFixed(1)} | ${held.toFixed(1)}`);
}

async function fill(path: string, original: ReturnType<typeof sampleAggregate>): Promise<void> {
  const stores = await openSqliteStores({ path });
  await stores.aggregates.create(original);
  await stores.close();
  const db = new DatabaseSync(path);
  const columns = db.prepare("SELECT name FROM pragma_table_info('aggregates')").all() as { name: string }[];
  const values = columns.map(({ name }) => {
    if (name === "root_id") return "'run_' || printf('%026d', n)";
    if (name === "created_at") return `${FIRST_AT} + n * 1000`;
    if (name === "status") return `CASE WHEN n % ${RARE} = 0 THEN 'failed' ELSE 'success' END`;
    if (name === "origin") {
      const user = `CASE WHEN n % ${RARE} = 1 THEN 'rare' ELSE 'frequent' END`;
      const ref = `CASE WHEN n % ${RARE} = 2 THEN 'rare' ELSE 'main' END`;
      return `json_set(origin, '$.triggeredBy', ${user}, '$.trigger.ref', ${ref}, '$.trigger.kind', 'manual')`;
    }
    return name;
  });
  db.exec(`
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${runs - 1})
    INSERT INTO aggregates (${columns.map(({ name }) => name).join(", ")})
    SELECT ${values.join(", ")} FROM numbers, (SELECT * FROM aggregates LIMIT 1);
  `);
  db.close();
}
