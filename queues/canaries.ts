/** Decides which of the shards of a node sends the next canary, so that their number does not grow with the shards. */
import type { OwnedShard } from "./owned-shard.ts";

/** How often a node asks whether a canary is due. */
export const CANARY_EVERY_MS = 1_000;
/** Time between two canaries of a shard, when the node owns few shards. */
const CANARY_MS = 20_000;
const FEW_SHARDS = 8;
/** Time between two canaries of a node with more shards: a canary costs five calls, as much as all else in a second. */
const MANY_EVERY_MS = CANARY_MS / FEW_SHARDS;

type CanaryShard = Pick<OwnedShard, "isOpen" | "canaryWaitMs" | "sendCanary">;

export class Canaries {
  /** When the last canary of each open shard was sent, or when the shard was found open, monotonic milliseconds. */
  readonly #sentAt = new Map<CanaryShard, number>();
  /** When the last canary of any shard was sent. */
  #lastAt = Number.NEGATIVE_INFINITY;

  /**
   * Sends the canary that is due first, if one is. A failure is ignored: the canary is missed then. `now`: monotonic
   * milliseconds.
   */
  sendNext(shards: Iterable<CanaryShard>, now: number): void {
    if (this.#sentAt.size > FEW_SHARDS && now - this.#lastAt < MANY_EVERY_MS) return;
    for (const shard of shards) if (shard.isOpen && !this.#sentAt.has(shard)) this.#sentAt.set(shard, now);
    const due = [...this.#sentAt].filter(([, sentAt]) => now - sentAt >= CANARY_MS);
    // A canary that was lost with the data of Redis is replaced first.
    const [next] = due.toSorted(([a, sentA], [b, sentB]) => {
      return Number(b.canaryWaitMs(now) > 0) - Number(a.canaryWaitMs(now) > 0) || sentA - sentB;
    });
    if (next === undefined) return;
    const [shard] = next;
    this.#sentAt.set(shard, now);
    this.#lastAt = now;
    void shard.sendCanary().catch(() => undefined);
  }

  forget(shard: CanaryShard): void {
    this.#sentAt.delete(shard);
  }
}
