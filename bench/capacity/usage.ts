/** What work uses of an installation, beyond what the installation uses without work. */
import type { Costs } from "./model.ts";
import type { CapacityWorld } from "./world.ts";

/** What an idle installation uses in a millisecond. */
export type Idle = Costs;

export async function usedBy(world: CapacityWorld, idle: Idle, work: () => Promise<void>): Promise<Costs> {
  const from = performance.now();
  const before = await world.used();
  await work();
  const after = await world.used();
  return differenceOf(differenceOf(after, before), scaled(idle, performance.now() - from));
}

export function differenceOf(one: Costs, other: Costs): Costs {
  return Object.fromEntries(Object.entries(one).map(([figure, value]) => [figure, value - (other[figure] ?? 0)]));
}

export function scaled(costs: Costs, factor: number): Costs {
  return Object.fromEntries(Object.entries(costs).map(([figure, value]) => [figure, value * factor]));
}

/** Four digits: more would be noise. */
export function rounded(costs: Costs): Costs {
  return Object.fromEntries(Object.entries(costs).map(([figure, value]) => [figure, Number(value.toPrecision(4))]));
}
