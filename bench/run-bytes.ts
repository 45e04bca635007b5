/**
 * `npm run bench:run-bytes -- [RUNS]`: the bytes of the file of SQLite that a run of one step takes, by table and index, with
 * what is free in the pages. The runs (2,000) are copies of one that really ran.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { storeFile } from "../src/node/data-dir.ts";
import { SqliteConnection } from "../src/sqlite/connection.ts";
import { makeFinishedRuns } from "./millrace/finished-runs.ts";

interface Size {
  readonly name: string;
  readonly cells: number;
  readonly pages: number;
  readonly payload: number;
  readonly overflow: number;
  readonly bytes: number;
}

const SIZES = `
  SELECT name, sum(ncell) AS cells, count(*) AS pages, sum(payload) AS payload,
    sum(iif(pagetype = 'overflow', pgsize, 0)) AS overflow, sum(pgsize) AS bytes
  FROM dbstat GROUP BY name ORDER BY bytes DESC`;
/** What takes less is not of the runs. */
const LEAST_BYTES = 5;

const count = Number(process.argv[2] ?? 2_000);
const folder = await mkdtemp(join(tmpdir(), "millrace-run-bytes-"));
try {
  const dataDir = join(folder, "data");
  await makeFinishedRuns(dataDir, count);
  const db = new SqliteConnection(storeFile(dataDir), { readonly: true });
  const sizes = db.prepare(SIZES).all() as readonly Size[];
  db.close();
  const each = (bytes: number): string => (bytes / count).toFixed(0);
  console.log(
    "table or index | bytes of a run | of them content | of them in overflow pages\n--- | ---: | ---: | ---:",
  );
  for (const { name, payload, overflow, bytes } of sizes.filter((size) => size.bytes / count >= LEAST_BYTES)) {
    console.log(`${name} | ${each(bytes)} | ${each(payload)} | ${each(overflow)}`);
  }
  console.log(
    `all | ${each(sizes.reduce((sum, { bytes }) => sum + bytes, 0))} | ${each(sizes.reduce((sum, { payload }) => sum + payload, 0))} |`,
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}
