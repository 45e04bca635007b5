/** Checks the value of an expression that gives a matrix axis. Pure. */
import { matrixValue } from "../definition/schema/matrix-value.ts";
import type { Scalar } from "../domain/plan.ts";

/** The values of the axis; a message when `value` cannot be an axis. */
export function toAxis(value: unknown): readonly Scalar[] | string {
  const values = Array.isArray(value) ? value.map((item) => matrixValue.safeParse(item).data) : [];
  if (values.length === 0 || !values.every((item) => item !== undefined)) {
    return "this expression must give a list of strings, numbers or booleans, with at least one item";
  }
  return new Set(values.map(String)).size < values.length
    ? "this expression gives a list that has a value twice"
    : values;
}
