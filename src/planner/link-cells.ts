/** The graph of the jobs of a run. Pure. */
import type { PlannedJob } from "../domain/plan.ts";
import type { PlannedCell } from "./plan-cells.ts";

/** The needs and the dependents of each cell, as positions in `cells`. */
export function linkCells(cells: readonly PlannedCell[]): readonly Pick<PlannedJob, "needs" | "dependents">[] {
  const indices = new Map<string, number[]>();
  cells.forEach(({ defined }, index) => {
    const found = indices.get(defined.name);
    if (found === undefined) indices.set(defined.name, [index]);
    else found.push(index);
  });
  const needs = cells.map(({ defined }) => [...new Set(defined.needs)].flatMap((name) => indices.get(name) ?? []));
  const dependents = cells.map((): number[] => []);
  needs.forEach((list, index) => {
    for (const need of list) dependents[need]!.push(index);
  });
  return cells.map((_, index) => ({ needs: needs[index]!, dependents: dependents[index]! }));
}
