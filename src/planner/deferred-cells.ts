/** The cells of a matrix whose axes only the run knows, once it does. Pure. */
import { CONTEXTS } from "../definition/text/expression-places.ts";
import { countCells, expandMatrix } from "../definition/matrix.ts";
import { LIMITS } from "../definition/schema/limits.ts";
import { MissingOutputs } from "../domain/outputs.ts";
import type { DeferredCells, Pairs, Scalar } from "../domain/plan.ts";
import { toScope } from "../expressions/context-data.ts";
import { evaluateTemplate, parseTemplate } from "../expressions/template.ts";
import { toAxis } from "./axis.ts";
import { type Facts, factsOf } from "./gate.ts";

/**
 * `matrix`: an axis gives no list of values, or the same one twice, or nothing is left of the cells; `matrix_limit`: they
 * are more than a matrix may have, or have more steps than a run may have. `steps`: how many each cell has; `others`:
 * how many the other jobs of the run have.
 */
export function makeCells(
  { axes, include, exclude }: DeferredCells,
  facts: Facts,
  steps: number,
  others: number,
): readonly Pairs<Scalar>[] | "matrix" | "matrix_limit" {
  const known: [string, readonly Scalar[]][] = [];
  for (const [name, values] of axes) {
    const list = typeof values === "string" ? evaluateAxis(values, facts) : values;
    if (list === undefined) return "matrix";
    known.push([name, list]);
  }
  const count = countCells({ axes: known, include, exclude });
  if (count > LIMITS.matrixCells || count * steps + others > LIMITS.steps) return "matrix_limit";
  return count === 0 ? "matrix" : expandMatrix({ axes: known, include, exclude });
}

function evaluateAxis(text: string, facts: Facts): readonly Scalar[] | undefined {
  const template = parseTemplate(text, CONTEXTS, { maxChars: Infinity, maxSteps: Infinity });
  let value: unknown;
  try {
    value = evaluateTemplate(template, toScope(factsOf(text, template.references, facts)));
  } catch (error) {
    if (error instanceof MissingOutputs) throw error;
    return undefined;
  }
  const axis = toAxis(value);
  return typeof axis === "string" ? undefined : axis;
}
