/**
 * W11: the longest turn of runs at the limits of a definition, in every shape. A turn is all that its owner computes
 * before it saves; the first one is taken by the edge, at the trigger. No store takes part.
 */
import { LIMITS } from "../../src/definition/schema/limits.ts";
import { LargeRun } from "../../test/support/large-runs.ts";
import { largeShapes } from "../../test/support/large-run-shapes.ts";
import { median } from "../measure/percentiles.ts";
import type { Figure } from "../system.ts";

const WARM_UPS = 1;
const TIMES = 5;

/** Answers, for each shape, the median of 5 runs' longest turns after one warm-up run. */
export function measureTurns(): Promise<readonly Figure[]> {
  const figures = largeShapes(LIMITS).map(({ name, plan, play }): Figure => {
    const planned = plan();
    const longest: number[] = [];
    for (let time = -WARM_UPS; time < TIMES; time++) {
      let most = 0;
      const run = new LargeRun(planned, (_, turn) => {
        const from = performance.now();
        const result = turn();
        most = Math.max(most, performance.now() - from);
        return result;
      });
      play(run);
      if (time >= 0) longest.push(most);
    }
    return { metric: `longest turn: ${name}`, unit: "ms", value: median(longest) };
  });
  return Promise.resolve(figures);
}
