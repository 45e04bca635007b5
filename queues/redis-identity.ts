/**
 * The identity of the Redis that owners rely on. Owners compare it to detect that Redis was emptied or restarted. It
 * consists of the run ids of the servers, which change with a restart, and the value of a witness: a key with the same
 * hash tag as the board, which owners write too. On a cluster, the board may lie on another master than a shard.
 */
import { randomUUID } from "node:crypto";
import type { RedisClient } from "../src/redis/connect.ts";
import { readRunId, serversOf } from "../src/redis/servers.ts";
import type { Witness } from "./scripts.ts";

/**
 * How long to wait for one master of a cluster, milliseconds. The leases of shards on other masters must be renewed in
 * time.
 */
const ANSWER_MS = 1_000;

export class RedisIdentity {
  readonly #redis: RedisClient;
  readonly #witness: string;
  /** The last answers of a cluster, by server and for the witness. */
  #known = new Map<string, string>();
  /**
   * The run id of a single server; undefined until the present connection has asked for it. A connection ends with the
   * server that it leads to, so that a second answer on it would be the same.
   */
  #runId: Promise<string> | undefined;

  /** `witness`: a key, which is created when it is missing. */
  constructor(redis: RedisClient, witness: string) {
    this.#redis = redis;
    this.#witness = witness;
    redis.on("close", () => (this.#runId = undefined));
  }

  /** The witness, for a call that reads it; null on a cluster, where {@link read} reads it by itself. */
  get witness(): Witness | null {
    return this.#redis.isCluster ? null : { key: this.#witness, value: randomUUID() };
  }

  /**
   * A text that changes when a server or the witness loses its memory. `witnessed`: the value of the witness in the answer of
   * another call; absent on a cluster. A master of a cluster that does not answer counts as unchanged.
   */
  async read(witnessed?: Promise<string>): Promise<string> {
    const answers = witnessed === undefined ? await this.#readAll() : await this.#readServer(witnessed);
    return answers.toSorted().join(" ");
  }

  /** The run id is read behind the witness, so that it is never that of an earlier connection. */
  async #readServer(witnessed: Promise<string>): Promise<string[]> {
    const value = await witnessed;
    const asked = (this.#runId ??= readRunId(serversOf(this.#redis)[0]!));
    try {
      return [value, await asked];
    } catch (error) {
      if (this.#runId === asked) this.#runId = undefined;
      throw error;
    }
  }

  async #readAll(): Promise<string[]> {
    const pending = new Map([["witness", this.#readWitness()]]);
    for (const server of serversOf(this.#redis)) {
      pending.set(`${server.options.host}:${server.options.port}`, readRunId(server));
    }
    const answers = await Promise.all(
      [...pending].map(async ([name, answer]) => [name, await this.#answerInTime(name, answer)] as const),
    );
    this.#known = new Map(answers);
    return answers.map(([, answer]) => answer);
  }

  async #readWitness(): Promise<string> {
    const created = randomUUID();
    return (await this.#redis.set(this.#witness, created, "NX", "GET")) ?? created;
  }

  /** The answer; the last known one when none comes in time. */
  async #answerInTime(name: string, answer: Promise<string>): Promise<string> {
    const last = this.#known.get(name);
    if (last === undefined) return answer;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<string>((resolve) => (timer = setTimeout(resolve, ANSWER_MS, last)));
    return Promise.race([answer.catch(() => last), timeout]).finally(() => clearTimeout(timer));
  }
}
