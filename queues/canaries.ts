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
    const shard = this.#firstDue(now);
    if (shard === undefined) return;
    this.#sentAt.set(shard, now);
    this.#lastAt = now;
    void shard.sendCanary().catch(() => undefined);
  }

  /** Of the shards that are due, the one whose last canary is oldest; but a canary that was lost is replaced first. */
  #firstDue(now: number): CanaryShard | undefined {
    let first: CanaryShard | undefined;
    let [firstAt, firstIsLost] = [Infinity, false];
    for (const [shard, sentAt] of this.#sentAt) {
      if (now - sentAt < CANARY_MS) continue;
      const isLost = shard.canaryWaitMs(now) > 0;
      if (isLost === firstIsLost ? sentAt < firstAt : isLost) [first, firstAt, firstIsLost] = [shard, sentAt, isLost];
    }
    return first;
  }

  forget(shard: CanaryShard): void {
    this.#sentAt.delete(shard);
  }
}
