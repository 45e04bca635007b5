/** Names of steps in the plan. Pure. */
import { LIMITS } from "../definition/schema/limits.ts";
import { CONTEXTS } from "../definition/text/expression-places.ts";
import { NOT_IN_NAMES } from "../domain/names.ts";
import type { Pairs } from "../domain/pairs.ts";
import type { PlannedStep, Scalar } from "../domain/plan.ts";
import { toScope } from "../expressions/context-data.ts";
import { asText, CLOSE, evaluateTemplate, OPEN, parseTemplate, type Template } from "../expressions/template.ts";

const UNFIT = new RegExp(`[${NOT_IN_NAMES}]`, "gu");
/** All cells of a matrix have the same steps of the plan. */
const parsed = new WeakMap<Pick<PlannedStep, "name">, Template>();

/** A name that can stand where users read names: a value from outside may hold what no name can have. */
export function fitName(text: string): string {
  return text.replaceAll(UNFIT, " ").slice(0, LIMITS.nameChars);
}

/**
 * The name as the plan has it, where `resolved` has the values that are known. `isLate`: the run makes the cells of the job, and
 * {@link nameInCell} then evaluates the name, so `${{` that came with a value is kept as a text.
 */
export function plannedName(resolved: string, written: Template, isLate: boolean): string {
  const readsCell = written.references.some(({ context }) => context === "matrix");
  if (!isLate || readsCell || !resolved.includes(OPEN)) return resolved;
  return `${OPEN} '${resolved.replaceAll("'", "''")}' ${CLOSE}`;
}

/**
 * `matrix`: the cell, of a job whose cells the run has made; else empty. The name in the plan of such a job may still read its cell.
 */
export function nameInCell(step: Pick<PlannedStep, "name">, matrix: Pairs<Scalar>): string {
  if (matrix.length === 0 || !step.name.includes(OPEN)) return step.name;
  let template = parsed.get(step);
  if (template === undefined) {
    template = parseTemplate(step.name, CONTEXTS, { maxChars: Infinity, maxSteps: Infinity });
    parsed.set(step, template);
  }
  try {
    const name = fitName(asText(evaluateTemplate(template, toScope({ matrix: Object.fromEntries(matrix) }))));
    return name.trim() === "" ? step.name : name;
  } catch {
    // Its value cannot be made, such as `fromJSON` of a value that is not JSON.
    return step.name;
  }
}
