/**
 * Hands shards over to other nodes, a few at a time: the others are served meanwhile, so that a run waits only while its
 * own shard changes hands. The next owner is told as soon as a lease is free, and says when the shard is open there.
 */
import type { Logger } from "../src/domain/logger.ts";
import type { RedisClient } from "../src/redis/connect.ts";
import type { OwnedShard } from "./owned-shard.ts";
import { ring } from "./wake-key.ts";

export interface HandOverOptions {
  readonly redis: RedisClient;
  /** The node that gives shards up. */
  readonly nodeId: string;
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
/**
 * A shard that takes longer than this to be released, because the store is slow or away, no longer holds up the others.
 */
const RELEASE_MS = 1_000;
/**
 * The same for a shard that its next owner does not open. Nodes of earlier releases do not hear what they are told, and
 * look for free shards every 500 ms.
 */
const OPENING_MS = 500;

export class HandOver {
  readonly #options: HandOverOptions;
  readonly #begun = new Map<OwnedShard, Promise<void>>();
  readonly #waiting: Waiting[] = [];
  /** By shard: called when the next owner has opened it. */
  readonly #onTaken = new Map<number, () => void>();
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

  /** To be called when the next owner says that it has opened the shard. */
  onTaken(shard: number): void {
    this.#onTaken.get(shard)?.();
  }

  #next(): void {
    while (this.#busy < AT_ONCE && this.#waiting.length > 0) {
      this.#busy++;
      void this.#handOver(this.#waiting.shift()!).finally(() => {
        this.#busy--;
        this.#next();
      });
    }
  }

  /** Resolves when the next shard may follow. Never rejects. */
  async #handOver({ owned, successor, resolve }: Waiting): Promise<void> {
    const { redis, nodeId } = this.#options;
    const { shard } = owned;
    const taken = new Promise<void>((onTaken) => this.#onTaken.set(shard, onTaken));
    const told = this.#release(owned).then(async () => {
      // A word that is lost costs half a second: the next owner looks for free shards by itself.
      if (successor !== undefined) await ring(redis, successor, `free:${shard}:${nodeId}`).catch(() => undefined);
      resolve();
    });
    await atMost(RELEASE_MS, told);
    if (successor !== undefined && this.#waiting.length > 0) await atMost(OPENING_MS, taken);
    this.#onTaken.delete(shard);
  }

  async #release(owned: OwnedShard): Promise<void> {
    const { log, onReleased } = this.#options;
    try {
      await owned.release();
    } catch (error) {
      log.warn({ shard: owned.shard, error: String(error) }, "a shard could not be given up in good order");
      owned.abandon();
    }
    this.#begun.delete(owned);
    onReleased(owned);
  }
}

/** Resolves with the promise, or after `ms`. */
async function atMost(ms: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([promise, timeout]);
  clearTimeout(timer);
}
