/** Random numbers that a seed repeats: they depend only on the seed and on the order of the draws. */

export interface Random {
  /** A whole number from `least` to `most`, both included. */
  between(least: number, most: number): number;
  pick<T>(items: readonly T[]): T;
  shuffled<T>(items: readonly T[]): readonly T[];
  /**
   * A separate source for a part of the test, so that parts that run at the same time do not change each other's draws.
   */
  fork(name: string): Random;
}

/** mulberry32. Source: https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    between,
    pick: (items) => items[between(0, items.length - 1)]!,
    shuffled(items) {
      const order = [...items];
      for (let at = order.length - 1; at > 0; at--) {
        const other = between(0, at);
        [order[at], order[other]] = [order[other]!, order[at]!];
      }
      return order;
    },
    fork(name) {
      let hash = seed;
      for (const character of name) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
      return seeded(hash);
    },
  };
}
