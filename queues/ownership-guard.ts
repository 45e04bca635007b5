/** What may keep a worker from owning shards although it is alive and reaches Redis. */
import type { ClockCheck } from "./clock-check.ts";
import type { StoreReach } from "./store-reach.ts";

/** Why a worker may own no shard: it alone cannot reach the store, or its clock is wrong. */
export type Bar = "store" | "clock";

export interface OwnershipGuard {
  /** Called in each round of the owner; `members`: the workers that were members in the round before. Never rejects. */
  check(members: number): Promise<void>;
  /** Why this node may own no shard now; null when it may. */
  readonly bar: Bar | null;
  /** True while the node may soon be barred, or no longer be barred: the rounds then follow each other sooner. */
  readonly isUncertain: boolean;
  /** The same as `bar` for people; null when the node may own shards. */
  readonly reason: string | null;
}

/** `clock` is null where no other clock can be read: Redis is private to this node, on the same machine. */
export function ownershipGuard(
  reach: Pick<StoreReach, "check" | "isCutOff" | "isSilent">,
  clock: Pick<ClockCheck, "reason"> | null,
): OwnershipGuard {
  const barNow = (): Bar | null => {
    if (clock !== null && clock.reason !== null) return "clock";
    return reach.isCutOff ? "store" : null;
  };
  return {
    async check(members) {
      // A worker with a wrong clock tells nothing about the store, because no other worker may rely on it as successor.
      if (barNow() === "clock") return;
      // A worker that is alone has no successor, so it asks nothing.
      if (members > 1 || reach.isCutOff) await reach.check();
    },
    get isUncertain() {
      return reach.isSilent || barNow() !== null;
    },
    get bar() {
      return barNow();
    },
    get reason() {
      const bar = barNow();
      if (bar === "clock") return clock!.reason;
      return bar === "store" ? "this worker cannot reach the store, and another worker can" : null;
    },
  };
}
