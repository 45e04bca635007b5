/**
 * Which memories the work of owners rests on: the servers', which a restart empties, and that of a witness, a key beside
 * what owners tell others than their own shards; on a cluster it may lie on another master than a shard.
 */
import { randomUUID } from "node:crypto";
import type { RedisClient } from "../src/redis/connect.ts";
import { readRunId, serversOf } from "../src/redis/servers.ts";

/** How long one master of a cluster is waited for; the others' shards must be kept meanwhile. */
const ANSWER_MS = 1_000;

export class RedisIdentity {
  readonly #redis: RedisClient;
  readonly #witness: string;
  /** The last answers, by who gave them. */
  #known = new Map<string, string>();

  /** `witness` is made when it is missing. */
  constructor(redis: RedisClient, witness: string) {
    this.#redis = redis;
    this.#witness = witness;
  }

  /** A text that changes when any of the memories is lost. A master that does not answer counts as unchanged. */
  async read(): Promise<string> {
    const asked = new Map([["witness", this.#readWitness()]]);
    for (const server of serversOf(this.#redis)) {
      asked.set(`${server.options.host}:${server.options.port}`, readRunId(server));
    }
    const answers = await Promise.all(
      [...asked].map(async ([who, answer]) => [who, await this.#inTime(who, answer)] as const),
    );
    this.#known = new Map(answers);
    return answers
      .map(([, answer]) => answer)
      .toSorted()
      .join(" ");
  }

  async #readWitness(): Promise<string> {
    const made = randomUUID();
    return (await this.#redis.set(this.#witness, made, "NX", "GET")) ?? made;
  }

  async #inTime(who: string, answer: Promise<string>): Promise<string> {
    const last = this.#known.get(who);
    if (!this.#redis.isCluster || last === undefined) return answer;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => (timer = setTimeout(resolve, ANSWER_MS, last)));
    return Promise.race([answer.catch(() => last), late]).finally(() => clearTimeout(timer));
  }
}
