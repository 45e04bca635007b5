/** What each test file costs in time, which scripts/test.mjs reports. */
import { appendFileSync, readFileSync } from "node:fs";

/** The file to which every process of mocha appends one line of JSON for each test file; undefined without a report. */
const REPORT = process.env["MILLRACE_TEST_COSTS"];
/** Linux counts the processor time of ended processes in these ticks. */
const TICKS_PER_SECOND = 100;

/** What this process and the processes that it waited for have used since this process began, in seconds. */
function usedSoFar(): { readonly processor: number; readonly clock: number } {
  const { user, system } = process.cpuUsage();
  // The name of the program, in parentheses, can contain spaces. Behind it, the times of ended processes are 14th and 15th.
  const [children = 0, childrenSystem = 0] = readFileSync("/proc/self/stat", "utf8")
    .replace(/^.*\) /, "")
    .split(" ")
    .slice(13, 15)
    .map(Number);
  return {
    processor: (user + system) / 1_000_000 + (children + childrenSystem) / TICKS_PER_SECOND,
    clock: performance.now() / 1_000,
  };
}

let before = { processor: 0, clock: 0 };

/** The next file begins now, so the wait for its turn does not count. */
export function beginClock(): void {
  before = { ...before, clock: usedSoFar().clock };
}

/**
 * Notes that this process is done with the files of these suites: one file in a parallel run. The
 * processor time since the files before counts, so loading them does too.
 */
export function noteCosts(suites: readonly { readonly file?: string | undefined }[]): void {
  if (REPORT === undefined) return;
  const now = usedSoFar();
  const files = [...new Set(suites.flatMap(({ file }) => file ?? []))];
  const costs = { files, processor: now.processor - before.processor, clock: now.clock - before.clock };
  appendFileSync(REPORT, `${JSON.stringify(costs)}\n`);
  before = now;
}
