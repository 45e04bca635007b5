/** The outcome of the conformance suite: one line a case for people, and a JSON report for programs. */
import type { Paint } from "../screen.ts";

export interface CaseOutcome {
  readonly name: string;
  readonly outcome: "passed" | "failed" | "skipped";
  /** A measurement, or why the case failed or was skipped; may be empty. */
  readonly detail: string;
  readonly ms: number;
}

export interface ConformanceReport {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly cases: readonly CaseOutcome[];
}

const WORDS = { passed: ["green", "ok  "], failed: ["red", "FAIL"], skipped: ["yellow", "skip"] } as const;

export function caseLine(paint: Paint, { name, outcome, detail, ms }: CaseOutcome): string {
  const [colour, word] = WORDS[outcome];
  const time = outcome === "skipped" ? "" : ` (${(ms / 1_000).toFixed(1)} s)`;
  return `${paint(colour, word)} ${name}${time}${detail === "" ? "" : `: ${detail}`}`;
}

export function reportOf(cases: readonly CaseOutcome[]): ConformanceReport {
  const count = (outcome: CaseOutcome["outcome"]) => cases.filter((one) => one.outcome === outcome).length;
  return { passed: count("passed"), failed: count("failed"), skipped: count("skipped"), cases };
}
