/**
 * The identity of the Redis that owners rely on. Owners compare it to detect that Redis was emptied or restarted. It
 * consists of the run ids of the servers, which change with a restart, and the value of a witness: a key with the same
 * hash tag as the board, which owners write too. On a cluster, the board may lie on another master than a shard.
 */
import { randomUUID } from "node:crypto";
import type { RedisClient } from "../src/redis/connect.ts";
import { readRunId, serversOf } from "../src/redis/servers.ts";

/**
 * How long to wait for one master of a cluster, milliseconds. The leases of shards on other masters must be renewed in
 * time.
 */
const ANSWER_MS = 1_000;

export class RedisIdentity {
  readonly #redis: RedisClient;
  readonly #witness: string;
  /** The last answers, by server and for the witness. */
  #known = new Map<string, string>();

  /** `witness`: a key, which is created when it is missing. */
  constructor(redis: RedisClient, witness: string) {
    this.#redis = redis;
    this.#witness = witness;
  }

  /**
   * A text that changes when a server or the witness loses its memory. A master of a cluster that does not answer
   * counts as unchanged.
   */
  async read(): Promise<string> {
    const pending = new Map([["witness", this.#readWitness()]]);
    for (const server of serversOf(this.#redis)) {
      pending.set(`${server.options.host}:${server.options.port}`, readRunId(server));
    }
    const answers = await Promise.all(
      [...pending].map(async ([name, answer]) => [name, await this.#answerInTime(name, answer)] as const),
    );
    this.#known = new Map(answers);
    return answers
      .map(([, answer]) => answer)
      .toSorted()
      .join(" ");
  }

  async #readWitness(): Promise<string> {
    const created = randomUUID();
    return (await this.#redis.set(this.#witness, created, "NX", "GET")) ?? created;
  }

  /** The answer; on a cluster, the last known answer when none comes in time. */
  async #answerInTime(name: string, answer: Promise<string>): Promise<string> {
    const last = this.#known.get(name);
    if (!this.#redis.isCluster || last === undefined) return answer;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<string>((resolve) => (timer = setTimeout(resolve, ANSWER_MS, last)));
    return Promise.race([answer.catch(() => last), timeout]).finally(() => clearTimeout(timer));
  }
}
