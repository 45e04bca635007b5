/**
 * Attackers beside the load of a scenario: the attacks of `npm run attack` against the edges, in turns, while parts of the
 * installation are killed. Their runs belong to pipelines of their own, which the load does not know, so they are told apart by
 * their pipelines. What they start is stopped at the end, and judged by every rule that needs no acknowledged trigger.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Addresses, Attack } from "../../attack/attack.ts";
import { ATTACKS } from "../../attack/attacks.ts";
import { attackWith } from "../../attack/play.ts";
import type { Random } from "../world/random.ts";
import { type Client, Refusal } from "./client.ts";

/** How long one attack goes on before the next one begins. */
const TURN_MS = 4_000;
/** Attackers at once. */
const AT_ONCE = 2;
/** An agent of an attacker would be another agent than those of the scenario, whose absences are recorded. */
const LEFT_OUT = "agent";
const PAGE = 100;

/** The attacks with these names, or all that a scenario can play. Throws for an unknown name. */
export function attacksNamed(names: string): readonly Attack[] {
  const known = ATTACKS.filter(({ as }) => as !== LEFT_OUT);
  if (names === "all") return known;
  return names.split(",").map((name) => {
    const found = known.find((attack) => attack.name === name);
    if (found === undefined) throw new Error(`there is no attack ${name} for the kill tests`);
    return found;
  });
}

export class Attackers {
  readonly #client: Client;
  readonly #gateways: readonly string[];
  readonly #random: Random;
  readonly #counts = new Map<string, number>();
  #isOver = false;
  #playing: Promise<unknown> = Promise.resolve();
  #tokens: Addresses["tokens"] | null = null;
  #turns = 0;

  /** `gateways`: `host:port` of each gRPC listener. */
  constructor(client: Client, gateways: readonly string[], random: Random) {
    this.#client = client;
    this.#gateways = gateways;
    this.#random = random;
  }

  /** Attacks that were played to their end. */
  get turns(): number {
    return this.#turns;
  }

  /** How the installation answered, by kind. */
  get answers(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  /** Begins to attack, in an order that the random numbers choose, again and again until {@link end}. */
  async begin(attacks: readonly Attack[]): Promise<void> {
    this.#tokens = {
      viewer: await this.#tokenOf("viewer"),
      operator: await this.#tokenOf("operator"),
      maintainer: await this.#tokenOf("maintainer"),
    };
    let deck: Attack[] = [];
    const playOn = async () => {
      while (!this.#isOver) {
        if (deck.length === 0) deck = [...this.#random.shuffled(attacks)];
        await this.#play(deck.pop()!);
      }
    };
    this.#playing = Promise.all(Array.from({ length: AT_ONCE }, playOn));
  }

  /** Lets the attacks that go on end. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#playing;
  }

  /** Stops the runs of every pipeline that `known` does not hold. Answers the ids of these pipelines. */
  async stopRuns(
    known: readonly string[],
    liveRuns: (pipelineId: string) => Promise<readonly string[]>,
  ): Promise<readonly string[]> {
    const found: string[] = [];
    for (let page = 1; found.length === (page - 1) * PAGE; page++) {
      const path = `/pipelines?page=${page}&pageSize=${PAGE}`;
      const { list } = await this.#client.call<{ list: readonly { readonly pipelineId: string }[] }>("GET", path);
      found.push(...list.map(({ pipelineId }) => pipelineId));
    }
    const own = found.filter((id) => !known.includes(id));
    for (const id of own) {
      for (const runId of await liveRuns(id)) await this.#stop(id, runId);
    }
    return own;
  }

  async #stop(pipelineId: string, runId: string): Promise<void> {
    try {
      await this.#client.call("POST", `/pipelines/${pipelineId}/runs/${runId}/stop`, {});
    } catch (error) {
      // The run has ended meanwhile.
      if (!(error instanceof Refusal && error.status === 409)) throw error;
    }
  }

  async #play({ name }: Attack): Promise<void> {
    const addresses: Addresses = {
      url: this.#client.anyUrl(),
      gateway: this.#random.pick(this.#gateways),
      tokens: this.#tokens!,
      registrationToken: "",
    };
    const counts = await attackWith(name, addresses, TURN_MS);
    for (const [kind, count] of Object.entries(counts)) {
      const known = `${name}: ${kind}`;
      this.#counts.set(known, (this.#counts.get(known) ?? 0) + count);
    }
    this.#turns++;
    // An edge that is dead refuses at once; no attacker calls it without a pause.
    await sleep(100);
  }

  async #tokenOf(role: string): Promise<string> {
    const name = `attacking-${role}`;
    const { userId } = await this.#client.call<{ userId: string }>("POST", "/users", { name, role });
    const { token } = await this.#client.call<{ token: string }>("POST", `/users/${userId}/tokens`, { name: "attack" });
    return token;
  }
}
