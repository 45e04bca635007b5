/**
 * W9: the time from the text of a large definition to its diagnostics, its dry run and its plan, by compiled code in
 * this process.
 */
import { expectedPlan, largeText, subjectOf } from "./large-definition.ts";
import { median } from "../measure/percentiles.ts";
import type { Figure } from "../system.ts";

const WARM_UPS = 10;
const TIMES = 30;

/** Measures 1,000 steps in 100 jobs of 10 stages. Answers medians of 30 repetitions after 10 warm-ups. */
export async function measureDefinition(): Promise<readonly Figure[]> {
  const { parseDefinition } = await compiled<typeof import("../../src/definition/parse.ts")>("definition/parse");
  const { dryRun } = await compiled<typeof import("../../src/planner/dry-run.ts")>("planner/dry-run");
  const { planRun } = await compiled<typeof import("../../src/planner/plan-run.ts")>("planner/plan-run");
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

/**
 * Imports a module of the compiled program, because code that tsx compiles on the fly is slower than the shipped code.
 */
async function compiled<Module>(path: string): Promise<Module> {
  return (await import(new URL(`../../dist/src/${path}.js`, import.meta.url).href)) as Module;
}
