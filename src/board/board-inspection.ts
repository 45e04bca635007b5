/** Reads everything on the board, for verification. It changes nothing, not even what has expired. */
import type { Offer } from "../domain/effects.ts";
import type { JobRunId } from "../domain/ids.ts";
import { LANE_ID_LENGTH } from "./board-scripts.ts";
import { OFFERS_KEY, PLACES_PREFIX } from "./redis-board.ts";

/** A place of a job in a quota. */
export interface FoundPlace {
  readonly quota: string;
  readonly jobId: JobRunId;
  /** By the clock of Redis, Unix milliseconds. */
  readonly expiresAt: number;
}

/** The part of an ioredis client, single or cluster, that verification uses. */
export interface InspectedRedis {
  hscan(key: string, cursor: string, count: "COUNT", entries: string): Promise<[string, string[]]>;
  zscan(key: string, cursor: string, count: "COUNT", entries: string): Promise<[string, string[]]>;
  hmget(key: string, ...fields: string[]): Promise<(string | null)[]>;
  zscore(key: string, member: string): Promise<string | null>;
  time(): Promise<unknown>;
}

/** One server that holds keys. */
export interface InspectedServer {
  scan(cursor: string, match: "MATCH", pattern: string, count: "COUNT", entries: string): Promise<[string, string[]]>;
}

/** Entries that one call asks for. */
const PAGE = "500";

export class BoardInspection {
  readonly #redis: InspectedRedis;
  readonly #servers: () => readonly InspectedServer[];

  /** `servers`: the single server, or the masters of a cluster. */
  constructor(redis: InspectedRedis, servers: () => readonly InspectedServer[]) {
    this.#redis = redis;
    this.#servers = servers;
  }

  /** All offers, page by page. An offer that is there all the time comes at least once; one may come twice. */
  async *offers(): AsyncGenerator<readonly Offer[]> {
    for (let cursor = ""; cursor !== "0";) {
      const [next, found] = await this.#redis.hscan(OFFERS_KEY, cursor || "0", "COUNT", PAGE);
      yield found.filter((_, at) => at % 2 === 1).map(offerOf);
      cursor = next;
    }
  }

  async findOffers(jobIds: readonly JobRunId[]): Promise<readonly Offer[]> {
    if (jobIds.length === 0) return [];
    return (await this.#redis.hmget(OFFERS_KEY, ...jobIds)).flatMap((stored) =>
      stored === null ? [] : offerOf(stored),
    );
  }

  /** All places that have not expired, page by page, as {@link offers}. */
  async *places(): AsyncGenerator<readonly FoundPlace[]> {
    const now = await this.#now();
    for await (const keys of this.#quotaKeys()) {
      for (const key of keys) {
        for (let cursor = ""; cursor !== "0";) {
          const [next, found] = await this.#redis.zscan(key, cursor || "0", "COUNT", PAGE);
          const quota = key.slice(PLACES_PREFIX.length);
          const places = Array.from({ length: found.length / 2 }, (_, at): FoundPlace => {
            return { quota, jobId: found[2 * at] as JobRunId, expiresAt: Number(found[2 * at + 1]) };
          });
          yield places.filter(({ expiresAt }) => expiresAt > now);
          cursor = next;
        }
      }
    }
  }

  /** True when the job has a place in the quota that has not expired. */
  async hasPlace(quota: string, jobId: JobRunId): Promise<boolean> {
    const score = await this.#redis.zscore(`${PLACES_PREFIX}${quota}`, jobId);
    return score !== null && Number(score) > (await this.#now());
  }

  /** The clock of Redis, Unix milliseconds. */
  async #now(): Promise<number> {
    const [seconds, micros] = (await this.#redis.time()) as readonly (string | number)[];
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  }

  async *#quotaKeys(): AsyncGenerator<readonly string[]> {
    const pattern = `${PLACES_PREFIX.replace(/[[\]*?\\]/g, "\\$&")}*`;
    for (const server of this.#servers()) {
      for (let cursor = ""; cursor !== "0";) {
        const [next, found] = await server.scan(cursor || "0", "MATCH", pattern, "COUNT", PAGE);
        yield found;
        cursor = next;
      }
    }
  }
}

function offerOf(stored: string): Offer {
  return JSON.parse(stored.slice(LANE_ID_LENGTH)) as Offer;
}
