/** Stores that count their calls, for tests of what something costs while nothing happens. */
import type { Stores } from "../../src/stores/ports/stores.ts";

export interface CountedStores {
  readonly stores: Stores;
  /** The number of calls since the last call of this function. */
  readonly takeCalls: () => number;
}

/** The same stores; each call of a method of any store counts. */
export function countCalls(stores: Stores): CountedStores {
  let calls = 0;
  const counting = (store: object): object =>
    new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return (...args: readonly unknown[]): unknown => {
          calls++;
          return Reflect.apply(member, target, args) as unknown;
        };
      },
    });
  const counted = Object.fromEntries(
    Object.entries(stores).map(([name, store]) => [
      name,
      typeof store === "object" && store !== null ? counting(store as object) : store,
    ]),
  );
  return {
    stores: counted as unknown as Stores,
    takeCalls: () => {
      const taken = calls;
      calls = 0;
      return taken;
    },
  };
}
