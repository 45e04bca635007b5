/** The report of the kill tests: a table for readers, JSON for programs. */
import { readFile, rename, writeFile } from "node:fs/promises";
import { z } from "zod";
import type { Outcome } from "./run-scenario.ts";

const scenarioReport = z.object({
  name: z.string(),
  runs: z.number(),
  kills: z.number(),
  /**
   * This and the next three: how many transitions, steps, log lines and reported secret values the checker examined.
   */
  transitions: z.number(),
  steps: z.number(),
  lines: z.number(),
  secrets: z.number(),
  lost: z.number(),
  doubled: z.number(),
  stuck: z.number(),
  /** Number of secret values that were found where they may not be. */
  leaked: z.number(),
  recoveryMs: z.object({ p50: z.number().nullable(), max: z.number().nullable() }),
  /** Every broken promise, as a sentence; also those that are neither lost, doubled, stuck nor leaked. */
  violations: z.array(z.string()),
  /** Other measurements, as sentences. */
  figures: z.array(z.string()),
  /** Times of each kind of recovery, in milliseconds. */
  recoveries: z.record(z.string(), z.object({ p50: z.number(), max: z.number() })),
});
const report = z.object({ seed: z.number(), scenarios: z.array(scenarioReport) });

export type ScenarioReport = z.output<typeof scenarioReport>;
export type Report = z.output<typeof report>;

export function reportOf({
  name,
  runs,
  kills,
  counts,
  violations,
  recoveries,
  figures,
  examined,
}: Omit<Outcome, "evidence">): ScenarioReport {
  const times = (what?: string) =>
    recoveries.filter((recovery) => what === undefined || recovery.what === what).map(({ tookMs }) => tookMs);
  const kinds = [...new Set(recoveries.map(({ what }) => what))];
  return {
    name,
    runs,
    kills,
    ...examined,
    lost: counts.lost,
    doubled: counts.doubled,
    stuck: counts.stuck,
    leaked: counts.leaked,
    recoveryMs: times().length === 0 ? { p50: null, max: null } : spread(times()),
    violations: [...violations],
    figures: [...figures],
    recoveries: Object.fromEntries(kinds.map((what) => [what, spread(times(what))])),
  };
}

/** One line for each scenario, and below it one line for each kind of recovery. */
export function tableOf({ seed, scenarios }: Report): string {
  const evidence = ["runs", "transitions", "steps", "lines", "secrets", "kills"] as const;
  const judgement = ["lost", "doubled", "stuck", "leaked"] as const;
  const head = ["scenario", ...evidence, ...judgement, "other", "p50 ms", "max ms"];
  const blanks = head.slice(3).map(() => "");
  const rows = scenarios.flatMap((one) => [
    [
      one.name,
      ...evidence.map((column) => one[column]),
      ...judgement.map((column) => one[column]),
      others(one),
      one.recoveryMs.p50,
      one.recoveryMs.max,
    ],
    ...Object.entries(one.recoveries).map(([what, { p50, max }]) => [`  ${what}`, ...blanks, p50, max]),
  ]);
  const cells = [head, ...rows].map((row) => row.map((cell) => (cell === null ? "-" : String(cell))));
  const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const lines = cells.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join("  "),
  );
  const figures = scenarios.flatMap((one) => one.figures.map((figure) => `${one.name}: ${figure}`));
  return [`seed ${seed}`, ...lines, ...figures].join("\n");
}

/**
 * Scenarios of an earlier part of the same long run, for `--from`. Empty when the file is missing or has another seed.
 */
export async function readReport(file: string, seed: number): Promise<readonly ScenarioReport[]> {
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return [];
  const read = report.safeParse(JSON.parse(text));
  return read.success && read.data.seed === seed ? read.data.scenarios : [];
}

/** Replaces the file in one step, so that a reader never sees half of it. */
export async function writeReport(file: string, content: Report): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(content, null, 2)}\n`);
  await rename(`${file}.new`, file);
}

function others({ violations, lost, doubled, stuck, leaked }: ScenarioReport): number {
  return violations.length - lost - doubled - stuck - leaked;
}

function spread(times: readonly number[]): { readonly p50: number; readonly max: number } {
  const sorted = times.map(Math.round).toSorted((a, b) => a - b);
  return { p50: sorted[Math.floor((sorted.length - 1) / 2)]!, max: sorted.at(-1)! };
}
