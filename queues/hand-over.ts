/**
 * Hands shards over to other nodes, a few at a time: the others are served meanwhile, so that a run waits only while its
 * own shard changes hands. The next owner is told as soon as a lease is free.
 */
import type { Logger } from "../src/domain/logger.ts";
import type { RedisClient } from "../src/redis/connect.ts";
import type { OwnedShard } from "./owned-shard.ts";
import { ring } from "./wake-key.ts";

export interface HandOverOptions {
  readonly redis: RedisClient;
  readonly log: Logger;
  /** Called when the lease was given back, or the shard was abandoned. */
  readonly onReleased: (owned: OwnedShard) => void;
}

/** A shard that is to be released. */
interface Waiting {
  readonly owned: OwnedShard;
  /** The node that should own the shard next, if any. */
  readonly successor: string | undefined;
  readonly resolve: () => void;
}

const AT_ONCE = 4;
/** A shard that takes longer than this, because the store is slow or away, no longer holds up the others. */
const PATIENCE_MS = 1_000;

export class HandOver {
  readonly #options: HandOverOptions;
  readonly #begun = new Map<OwnedShard, Promise<void>>();
  readonly #waiting: Waiting[] = [];
  #busy = 0;

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  /** Resolves when the shard is released. A repeat has no effect. */
  begin(owned: OwnedShard, successor: string | undefined): Promise<void> {
    const begun =
      this.#begun.get(owned) ??
      new Promise<void>((resolve) => {
        this.#waiting.push({ owned, successor, resolve });
      });
    this.#begun.set(owned, begun);
    this.#next();
    return begun;
  }

  #next(): void {
    while (this.#busy < AT_ONCE && this.#waiting.length > 0) {
      this.#busy++;
      let isFreed = false;
      const free = (): void => {
        if (isFreed) return;
        isFreed = true;
        this.#busy--;
        this.#next();
      };
      const patience = setTimeout(free, PATIENCE_MS);
      void this.#release(this.#waiting.shift()!).finally(() => {
        clearTimeout(patience);
        free();
      });
    }
  }

  /** Never rejects. */
  async #release({ owned, successor, resolve }: Waiting): Promise<void> {
    const { redis, log, onReleased } = this.#options;
    const { shard } = owned;
    try {
      await owned.release();
    } catch (error) {
      log.warn({ shard, error: String(error) }, "a shard could not be given up in good order");
      owned.abandon();
    }
    this.#begun.delete(owned);
    onReleased(owned);
    // A word that is lost costs half a second: the next owner looks for free shards by itself.
    if (successor !== undefined) await ring(redis, successor, `free:${shard}`).catch(() => undefined);
    resolve();
  }
}
