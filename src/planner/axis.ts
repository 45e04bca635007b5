/** What an expression gives in the place of an axis. Pure. */
import { matrixValue } from "../definition/schema/job.ts";
import type { Scalar } from "../domain/plan.ts";

/** The values, or what is wrong with them. */
export function toAxis(value: unknown): readonly Scalar[] | string {
  const values = Array.isArray(value) ? value.map((item) => matrixValue.safeParse(item).data) : [];
  if (values.length === 0 || !values.every((item) => item !== undefined)) {
    return "this gives no list of strings, numbers, true and false with at least one value";
  }
  return new Set(values.map(String)).size < values.length ? "this gives a list with the same value twice" : values;
}
