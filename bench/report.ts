/** The report of the benchmark: JSON for programs, a table for readers and for the page. */
import { rename, writeFile } from "node:fs/promises";
import type { Machine } from "./machine.ts";
import type { Result, Subject } from "./results.ts";

export interface Report {
  readonly commit: string;
  readonly machine: Machine;
  readonly rounds: number;
  readonly results: readonly Result[];
}

/** The unit of figures that are counted instead of timed: calls of one run. */
export const CALLS = "calls";

const BEGIN = "<!-- table: latest -->";
const END = "<!-- end -->";

/** Replaces the file in one step, so that a reader never sees half of it. */
export async function writeReport(file: string, report: Report): Promise<void> {
  await writeFile(`${file}.new`, `${JSON.stringify(report, null, 2)}\n`);
  await rename(`${file}.new`, file);
}

/** The report in Markdown, which a terminal shows well too. */
export function tableOf({ commit, machine, rounds, results }: Report): string {
  const { cpu, cores, memoryGb, os, node, loadAverage } = machine;
  const timed = results.filter(({ unit }) => unit !== CALLS);
  const counted = results.filter(({ unit }) => unit === CALLS);
  return [
    `Commit ${commit}, ${rounds} ${rounds === 1 ? "round" : "rounds"}: median (least to most).`,
    `Machine: ${cores} cores of ${cpu}, ${memoryGb} GB, ${os}, Node ${node}; load average before: ${loadAverage}.`,
    ...(timed.length === 0 ? [] : ["", ...figureTable(timed)]),
    ...(counted.length === 0 ? [] : ["", ...countTable(counted)]),
  ].join("\n");
}

/** The page, with the table instead of the text between its markers. Throws when the page has no markers. */
export function withTable(page: string, table: string): string {
  const begin = page.indexOf(BEGIN);
  const end = page.indexOf(END, begin);
  if (begin === -1 || end === -1) throw new Error(`the page must hold ${BEGIN} and ${END}, with the table between`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${table}\n\n${page.slice(end)}`;
}

/** A row for each figure, a column for each system. */
function figureTable(results: readonly Result[]): readonly string[] {
  const subjects = [...new Set(results.map(nameOf))];
  const rows = new Map<string, Map<string, string>>();
  for (const result of results) {
    const { workload, metric, unit, median, min, max } = result;
    const key = [workload, metric, unit].join("\n");
    const row = rows.get(key) ?? new Map<string, string>();
    rows.set(key, row.set(nameOf(result), min === max ? `${median}` : `${median} (${min} to ${max})`));
  }
  const body = [...rows].map(([key, cells]) => [...key.split("\n"), ...subjects.map((name) => cells.get(name) ?? "")]);
  return aligned([["", "figure", "unit", ...subjects], ...body]);
}

function countTable(results: readonly Result[]): readonly string[] {
  const subjects = [...new Set(results.map(nameOf))];
  const line = (name: string): string =>
    results
      .filter((result) => nameOf(result) === name)
      .toSorted((a, b) => b.median - a.median)
      .map(({ metric, median }) => `${metric} ${median}`)
      .join(", ");
  return aligned([["calls of a one-step run", "by kind"], ...subjects.map((name) => [name, line(name)])]);
}

function nameOf({ system, store }: Subject): string {
  return `${system} (${store})`;
}

function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = rows[0]!.map((_, column) => Math.max(3, ...rows.map((row) => row[column]!.length)));
  const [head, ...body] = rows.map((row) => `| ${row.map((cell, at) => cell.padEnd(widths[at]!)).join(" | ")} |`);
  return [head!, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...body];
}
