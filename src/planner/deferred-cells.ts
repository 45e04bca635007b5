/** Makes the cells of a matrix with deferred axes, once the run knows their values. Pure. */
import { CONTEXTS } from "../definition/text/expression-places.ts";
import { countCells, expandMatrix } from "../definition/matrix.ts";
import { LIMITS } from "../definition/schema/limits.ts";
import { MissingOutputs } from "../domain/outputs.ts";
import type { Pairs } from "../domain/pairs.ts";
import type { DeferredCells, Scalar } from "../domain/plan.ts";
import { WorkUsedUp } from "../domain/work/work-budget.ts";
import { toScope } from "../expressions/context-data.ts";
import { evaluateTemplate, parseTemplate } from "../expressions/template.ts";
import { toAxis } from "./axis.ts";
import { type Facts, factsOf, withinBudget } from "./gate.ts";

export type NoCells = "matrix" | "matrix_limit" | "expression_limit";

/**
 * The cells, or the reason for which the job fails. `matrix`: an axis is not a list of values, has a value twice, or `exclude`
 * leaves no cell. `matrix_limit`: a matrix may not have so many cells, or a run not so many steps. `expression_limit`: the budget of
 * work was used up. `steps` is the number of steps of each cell, `others` the number of steps of all other jobs of the run. Throws
 * `MissingOutputs`.
 */
export function makeCells(
  { axes, include, exclude }: DeferredCells,
  facts: Facts,
  steps: number,
  others: number,
): readonly Pairs<Scalar>[] | NoCells {
  const known: [string, readonly Scalar[]][] = [];
  for (const [name, values] of axes) {
    const list = typeof values === "string" ? evaluateAxis(values, facts) : values;
    if (typeof list === "string") return list;
    known.push([name, list]);
  }
  const count = countCells({ axes: known, include, exclude });
  if (count > LIMITS.matrixCells || count * steps + others > LIMITS.steps) return "matrix_limit";
  return count === 0 ? "matrix" : expandMatrix({ axes: known, include, exclude });
}

function evaluateAxis(text: string, facts: Facts): readonly Scalar[] | NoCells {
  let value: unknown;
  try {
    value = withinBudget(facts, "axis", text, () => {
      const template = parseTemplate(text, CONTEXTS, { maxChars: Infinity, maxSteps: Infinity });
      return evaluateTemplate(template, toScope(factsOf(text, template.references, facts)), undefined, facts.budget);
    });
  } catch (error) {
    if (error instanceof MissingOutputs) throw error;
    return error instanceof WorkUsedUp ? "expression_limit" : "matrix";
  }
  const axis = toAxis(value);
  return typeof axis === "string" ? "matrix" : axis;
}
