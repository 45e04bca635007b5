/** The secrets of the load: random values, one of which is replaced again and again while steps are given it. */
import { createHash } from "node:crypto";
import type { SecretVersion } from "../check/evidence.ts";
import type { Random } from "../world/random.ts";
import { type Client, Refusal, REQUEST_TIMEOUT_MS } from "./client.ts";

const CHARACTERS = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
const PART_LENGTH = 16;
const PROJECT = "/projects/default";
export const CONTROL = "control";

/** How the values of each are made out of parts by chance. What a shell reads as its code has letters and digits alone. */
const SHAPES = {
  PLAIN: ["", "'", " ", "&<", '"\\', "%"],
  MANY_LINES: ["", "\n", "\n  ", "\n"],
  ENCODED: ["", "", "", "", ""],
  ROTATED: ["", "", ""],
} as const;
export type SecretName = keyof typeof SHAPES;
const SECRET_NAMES = Object.keys(SHAPES) as readonly SecretName[];

/** Those that the pipelines of some kinds have themselves, besides their project's of the same name. */
const OF_PIPELINES: readonly SecretName[] = ["ENCODED", "MANY_LINES"];

export class Secrets {
  readonly versions: SecretVersion[] = [];
  /** A text that is no secret and treated like one by the search: what is not found of it could not be found of others. */
  readonly control: string;
  readonly #client: Client;
  readonly #random: Random;
  readonly #onValue: (secret: string, value: string) => void;
  /** By their place in `versions`. */
  readonly #mayComeBack = new Set<number>();
  #rotating: Promise<void> = Promise.resolve();

  /** `onValue` is told of each value before it is sent anywhere. */
  constructor(client: Client, random: Random, onValue: (secret: string, value: string) => void) {
    this.#client = client;
    this.#random = random;
    this.#onValue = onValue;
    this.control = this.#valueOf("ROTATED");
    onValue(CONTROL, this.control);
  }

  /** Sets those of the project, and is refused whatever may be refused of a secret. */
  async createForProject(): Promise<void> {
    for (const name of SECRET_NAMES) await this.#set("POST", PROJECT, "project", name);
    const value = this.#newVersion("refused/ROTATED", "ROTATED").value;
    const refused = [
      ["POST", "", { name: "ROTATED", value }],
      ["POST", "", { name: `no name: ${value}`, value }],
      ["PUT", "/NOBODY_HAS_SET_IT", { value }],
      ["PUT", "/ROTATED", { value, valeu: value }],
      ["PUT", "/ROTATED", { value: [value] }],
    ] as const;
    for (const [method, path, body] of refused) {
      await this.#client.call(method, `${PROJECT}/secrets${path}`, body).then(
        () => Promise.reject(new Error(`${method} ${path} of a secret was not refused`)),
        (error: unknown) => (error instanceof Refusal ? undefined : Promise.reject(error as Error)),
      );
    }
  }

  /** Sets those that the pipeline has itself; `owner` names it in what is told of them. */
  async createForPipeline(pipelineId: string, owner: string): Promise<void> {
    for (const name of OF_PIPELINES) await this.#set("POST", `/pipelines/${pipelineId}`, owner, name);
  }

  /** Gives `ROTATED` of the project a new value, after those that are under way. */
  rotate(): Promise<void> {
    this.#rotating = this.#rotating.then(() => this.#set("PUT", PROJECT, "project", "ROTATED"));
    return this.#rotating;
  }

  async #set(method: "POST" | "PUT", path: string, owner: string, name: SecretName): Promise<void> {
    const { version, value } = this.#newVersion(`${owner}/${name}`, name);
    const before = this.versions.findLastIndex(({ secret }) => secret === version.secret);
    const at = this.versions.push(version) - 1;
    if (method === "POST") await this.#client.call(method, `${path}/secrets`, { name, value });
    else await this.#client.call(method, `${path}/secrets/${name}`, { value });
    const acknowledgedMs = Date.now();
    // A request that was given up may still be under way, and put its value back at any time.
    if (acknowledgedMs - version.fromMs >= REQUEST_TIMEOUT_MS) this.#mayComeBack.add(at);
    const former = this.versions[before];
    if (former !== undefined && !this.#mayComeBack.has(before)) {
      this.versions[before] = { ...former, untilMs: acknowledgedMs };
    }
  }

  #newVersion(secret: string, name: SecretName): { readonly version: SecretVersion; readonly value: string } {
    const value = this.#valueOf(name);
    const number = this.versions.filter((version) => version.secret === secret).length + 1;
    this.#onValue(`version ${number} of the secret ${secret}`, value);
    const sum = createHash("sha256").update(value).digest("hex");
    return { version: { secret, number, sum, fromMs: Date.now(), untilMs: Infinity }, value };
  }

  #valueOf(name: SecretName): string {
    return SHAPES[name].map((between) => between + this.#part()).join("");
  }

  #part(): string {
    return Array.from({ length: PART_LENGTH }, () => this.#random.pick(CHARACTERS)).join("");
  }
}
