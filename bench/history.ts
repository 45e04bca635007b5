/**
 * The history of a run's costs: `history/commits.jsonl` has a line for each commit that was measured with `--record`,
 * oldest first. A count may rise from one line to the next only with a reason.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CALLS, type Report } from "./report.ts";

type Counts = Readonly<Record<string, number>>;

export interface Entry {
  readonly commit: string;
  /** The UTC day of the measurement, such as `2026-01-31`. */
  readonly date: string;
  readonly node: string;
  /** Load average before the measurement. It says how far to trust the ratios; the counts do not depend on it. */
  readonly load: number;
  /** Why a count is higher than before; absent when none is. */
  readonly reason?: string;
  /** The exact costs of a run, which `test/node/cost-of-a-run.test.ts` proves. */
  readonly counts: Counts;
  /** The calls of a run by kind, as the benchmark counts them; absent when it did not count. */
  readonly calls?: Counts;
  /** The figures of millrace on SQLite divided by those of another system; absent when no other was measured. */
  readonly ratios?: Counts;
}

const HISTORY = fileURLToPath(new URL("./history/commits.jsonl", import.meta.url));
const OURS = "millrace";
const STORE = "SQLite";

export function readHistory(file = HISTORY): readonly Entry[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Entry);
}

export function addEntry(entry: Entry, file = HISTORY): void {
  appendFileSync(file, `${JSON.stringify(entry)}\n`);
}

/** The counts that are higher than before, such as `statements 25 → 26`. New counts are not compared. */
export function risenCounts(before: Counts, now: Counts): readonly string[] {
  return Object.entries(now)
    .filter(([name, count]) => count > (before[name] ?? Infinity))
    .map(([name, count]) => `${name} ${before[name]} → ${count}`);
}

/** What speaks against recording these counts after the history; null when nothing does. */
export function refusalToRecord(
  { commit, counts, reason }: { readonly commit: string; readonly counts: Counts; readonly reason: string | null },
  history: readonly Entry[],
): string | null {
  if (!/^[0-9a-f]+$/.test(commit)) return "--record needs a checkout without changes, because it names the commit";
  const risen = risenCounts(history.at(-1)?.counts ?? {}, counts);
  if (risen.length === 0 || reason !== null) return null;
  return `a run costs more than at the last recorded commit (${risen.join(", ")}): say why with --reason`;
}

export function entryOf(
  { commit, machine: { node, loadAverage: load }, results }: Report,
  { counts, date, reason }: { readonly counts: Counts; readonly date: Date; readonly reason: string | null },
): Entry {
  const ours = results.filter(({ system, store }) => system === OURS && store === STORE);
  const calls = ours.filter(({ unit }) => unit === CALLS).map(({ metric, median }) => [metric, median] as const);
  const ratios = results.flatMap(({ system, workload, metric, median }) => {
    const own = ours.find((result) => result.workload === workload && result.metric === metric);
    if (system === OURS || own === undefined || median === 0) return [];
    return [[`${workload} ${metric} to ${system}`, Number((own.median / median).toPrecision(3))] as const];
  });
  return {
    commit,
    date: date.toISOString().slice(0, 10),
    node,
    load,
    ...(reason === null ? {} : { reason }),
    counts,
    ...(calls.length === 0 ? {} : { calls: Object.fromEntries(calls) }),
    ...(ratios.length === 0 ? {} : { ratios: Object.fromEntries(ratios) }),
  };
}
