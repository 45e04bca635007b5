/**
 * Takes epochs for shards that are opened at the same time in one call of the store. A worker that starts alone, or takes
 * over from a dead one, opens many shards at once: a call for each would keep all of them waiting.
 */
import type { EpochSource, EpochStore, RedisMark, TakenEpoch } from "./ports.ts";

interface Request {
  readonly shard: number;
  readonly least: number;
  readonly resolve: (taken: TakenEpoch) => void;
  readonly reject: (error: unknown) => void;
}

/** Calls that have no answer, at most. A call that hangs with its connection must not hold up every further shard. */
const CALLS_AT_ONCE = 4;

export class JoinedEpochs implements EpochSource {
  readonly #store: EpochStore;
  #requests: Request[] = [];
  #calls = 0;

  constructor(store: EpochStore) {
    this.#store = store;
  }

  takeEpoch(shard: number, least: number): Promise<TakenEpoch> {
    return new Promise((resolve, reject) => {
      this.#requests.push({ shard, least, resolve, reject });
      // The other shards of this turn of the event loop come first.
      if (this.#requests.length === 1) setImmediate(() => this.#flush());
    });
  }

  recordRedis(shard: number, epoch: number, mark: RedisMark): Promise<void> {
    return this.#store.recordRedis(shard, epoch, mark);
  }

  #flush(): void {
    if (this.#requests.length === 0 || this.#calls === CALLS_AT_ONCE) return;
    // One call names a shard once: a second request for it waits for the next call.
    const now = new Map<number, Request>();
    const later: Request[] = [];
    for (const request of this.#requests) {
      if (now.has(request.shard)) later.push(request);
      else now.set(request.shard, request);
    }
    this.#requests = later;
    this.#calls++;
    void this.#take([...now.values()]).finally(() => {
      this.#calls--;
      this.#flush();
    });
    this.#flush();
  }

  /** Never rejects. */
  async #take(requests: readonly Request[]): Promise<void> {
    try {
      const least = Math.max(...requests.map((request) => request.least));
      const taken = await this.#store.takeEpochs(
        requests.map(({ shard }) => shard),
        least,
      );
      for (const { shard, resolve, reject } of requests) {
        const found = taken.get(shard);
        if (found === undefined) reject(new Error(`the store issued no epoch of shard ${shard}`));
        else resolve(found);
      }
    } catch (error) {
      for (const { reject } of requests) reject(error);
    }
  }
}
