/** What `npm run attack` prints, and the bounds that hold while all attacks go on at once. */
import type { Outcome } from "./play.ts";
import type { ProbeFigures } from "./probe.ts";

/** On two cores, with all attacks at once from one address. */
export const BOUNDS = { healthMs: 100, triggerMs: 500, memoryMb: 400 } as const;

const MB = 1_000_000;

const COLUMNS = [
  ["attack", 26],
  ["health p50/p99/worst ms", 24],
  ["triggers p50/p99/worst ms", 26],
  ["failed", 8],
  ["memory before/peak/after MB", 28],
  ["leases lost", 12],
] as const;

export function headingOf(): string {
  return `${COLUMNS.map(([title, width]) => title.padEnd(width)).join("")}answers\n`;
}

export function lineOf({ attacks, health, triggers, memory, lostLeases, survived, answers }: Outcome): string {
  const name = attacks.length === 0 ? "(none)" : attacks.length === 1 ? attacks[0]! : `all ${attacks.length} at once`;
  const cells = [
    name,
    timesOf(health),
    timesOf(triggers),
    String(health.failures + triggers.failures),
    [memory.before, memory.peak, memory.after].map((bytes) => Math.round(bytes / MB)).join("/"),
    String(lostLeases),
  ];
  const counted = Object.entries(answers).map(([kind, count]) => `${kind}: ${count}`);
  return `${cells.map((cell, index) => cell.padEnd(COLUMNS[index]![1])).join("")}${
    survived ? counted.join("; ") : "THE CONTROL PLANE HAS ENDED"
  }\n`;
}

/** A sentence for each bound that the outcome misses. */
export function missesOf({ health, triggers, memory, lostLeases }: Outcome): readonly string[] {
  // A probe without a call has NaN, which keeps no bound.
  const above = (what: string, value: number, bound: number, unit: string) =>
    value < bound ? [] : [`${what}: ${Math.round(value)} ${unit}, the bound is ${bound} ${unit}`];
  return [
    ...above("p99 of health", health.p99, BOUNDS.healthMs, "ms"),
    ...above("p99 of the triggers of others", triggers.p99, BOUNDS.triggerMs, "ms"),
    ...above("memory of the control plane", memory.peak / MB, BOUNDS.memoryMb, "MB"),
    ...(lostLeases === 0 ? [] : [`leases of shards lost: ${lostLeases}`]),
    ...(health.failures === 0 ? [] : [`probes of health that failed: ${health.failures}`]),
    ...(triggers.failures === 0 ? [] : [`triggers of others that failed: ${triggers.failures}`]),
  ];
}

function timesOf({ p50, p99, worst }: ProbeFigures): string {
  return [p50, p99, worst].map((ms) => Math.round(ms)).join("/");
}
