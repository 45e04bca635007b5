/** Stores for tests of a process that dies at one of its calls, whichever that is. */
import type { Stores } from "../../src/stores/ports/stores.ts";

export interface Death {
  /** The number of the call at which the process dies, from 0. */
  readonly call: number;
  /** `before`: the store never gets the call. `behind`: the store does what was asked, and the answer is lost. */
  readonly side: "before" | "behind";
}

export interface DyingStores {
  readonly stores: Stores;
  /** True once the process is dead: then the test has to look further. */
  readonly isDead: () => boolean;
}

/** The same stores until the death; every call after it fails. */
export function dyingAt(stores: Stores, { call, side }: Death): DyingStores {
  let calls = 0;
  const dying = <T extends object>(store: T): T =>
    new Proxy(store, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== "function") return member;
        return async (...args: readonly unknown[]): Promise<unknown> => {
          const at = calls++;
          if (at > call || (at === call && side === "before")) throw new Error("the process is dead");
          const answer: unknown = await Reflect.apply(member, target, args);
          if (at === call) throw new Error("the process is dead");
          return answer;
        };
      },
    });
  const each = Object.entries(stores).map(([name, store]: [string, unknown]) => {
    return [name, typeof store === "object" && store !== null ? dying(store) : store];
  });
  return { stores: { ...stores, ...(Object.fromEntries(each) as Partial<Stores>) }, isDead: () => calls > call };
}

/** Plays `play` with a death at every call in turn, until it lives through all of its calls. Answers how many these are. */
export async function withEveryDeath(
  play: (death: Death) => Promise<boolean>,
  sides: readonly Death["side"][] = ["before", "behind"],
): Promise<number> {
  for (let call = 0; ; call++) {
    for (const side of sides) if (!(await play({ call, side }))) return call;
  }
}
