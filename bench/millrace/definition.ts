/**
 * W9: the time from the text of a large definition to its diagnostics, its dry run and its plan, in this
 * process.
 */
import { parseDefinition } from "../../src/definition/parse.ts";
import { dryRun } from "../../src/planner/dry-run.ts";
import { planRun } from "../../src/planner/plan-run.ts";
import { expectedPlan, largeText, subjectOf } from "./large-definition.ts";
import { median } from "../measure/percentiles.ts";
import type { Figure } from "../system.ts";

const WARM_UPS = 10;
const TIMES = 30;

/** Measures 1,000 steps in 100 jobs of 10 stages. Answers medians of 30 repetitions after 10 warm-ups. */
export async function measureDefinition(): Promise<readonly Figure[]> {
  const parsed = (text: string) => {
    const { definition, diagnostics } = parseDefinition(text, "yaml");
    if (definition === undefined) throw new Error(`the definition is not valid: ${JSON.stringify(diagnostics[0])}`);
    return definition;
  };
  const text = largeText({ runnable: false });
  const runnable = subjectOf(parsed(largeText({ runnable: true })));
  const samples = { "text to definition": [], "dry run": [], "plan of a run": [], "text to plan": [] } as Record<
    string,
    number[]
  >;
  for (let index = -WARM_UPS; index < TIMES; index++) {
    const times = [performance.now()];
    const subject = subjectOf(parsed(text));
    times.push(performance.now());
    expectedPlan(dryRun(subject));
    times.push(performance.now());
    expectedPlan(planRun(runnable));
    times.push(performance.now());
    if (index < 0) continue;
    const took = times.slice(1).map((at, step) => at - times[step]!);
    for (const [at, sample] of Object.values(samples).entries()) sample.push(took[at] ?? took[0]! + took[2]!);
  }
  return Object.entries(samples).map(([what, sample]) => ({
    metric: `1,000 steps: ${what}`,
    unit: "ms",
    value: median(sample),
  }));
}
