/** Heights of bars. Pure. */

const LEAST = 16;

/** Per cent of the full height, by the square root, so that one long run does not flatten the others. */
export function barHeights(values: readonly number[]): readonly number[] {
  const most = Math.max(1, ...values);
  return values.map((value) => Math.round(LEAST + (100 - LEAST) * Math.sqrt(Math.max(0, value) / most)));
}
