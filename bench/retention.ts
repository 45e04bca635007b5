/**
 * `npm run bench:retention -- [RUNS]`: retention removes half of the stored runs (of 1,000,000) while runs are triggered at a
 * steady pace. It prints the p99 of a trigger meanwhile and without the removal, of the same installation. Exit status 1: the p99
 * is above twice that without.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadAverage } from "./machine.ts";
import { measureRemoval } from "./millrace/removal.ts";

const BOUND = 2;

const count = Number(process.argv[2] ?? 1_000_000);
if (!Number.isInteger(count) || count < 2) throw new Error("the number of runs must be a whole number above 1");
const folder = await mkdtemp(join(tmpdir(), "millrace-retention-"));
try {
  console.log(`load average: ${loadAverage()}`);
  const { before, during, after, removed, seconds, ratio } = await measureRemoval(join(folder, "data"), count);
  const shown = [before, during, after].map(
    ({ p50, p99, count: triggers }) => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms of ${triggers}`,
  );
  console.log(
    `triggers before: ${shown[0]}; while ${removed} runs were removed in ${seconds.toFixed(0)} s: ${shown[1]}; afterwards: ${shown[2]}`,
  );
  console.log(
    `p99 with the removal to the one without: ${ratio.toFixed(2)} (bound ${BOUND}); load average ${loadAverage()}`,
  );
  if (ratio > BOUND) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
