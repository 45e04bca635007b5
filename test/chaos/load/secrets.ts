/** The secrets of the load: random values. One of them is replaced repeatedly while steps read it. */
import { createHash } from "node:crypto";
import type { SecretVersion } from "../check/evidence.ts";
import type { Random } from "../world/random.ts";
import { type Client, Refusal, REQUEST_TIMEOUT_MS } from "./client.ts";

const CHARACTERS = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789");
const PART_LENGTH = 16;
const PROJECT = "/projects/default";
export const CONTROL = "control";

/**
 * The text before each random part of a secret's value. `ROTATED` has only letters and digits, because it becomes part
 * of a shell script.
 */
const SHAPES = {
  PLAIN: ["", "'", " ", "&<", '"\\', "%"],
  MANY_LINES: ["", "\n", "\n  ", "\n"],
  ENCODED: ["", "", "", "", ""],
  ROTATED: ["", "", ""],
} as const;
export type SecretName = keyof typeof SHAPES;
const SECRET_NAMES = Object.keys(SHAPES) as readonly SecretName[];

/** Secrets that a pipeline has itself, besides its project's secrets of the same names. */
const OF_PIPELINES: readonly SecretName[] = ["ENCODED", "MANY_LINES"];

export class Secrets {
  readonly versions: SecretVersion[] = [];
  /**
   * A text that is no secret but that the search looks for like one: where the search misses it, it would miss secrets
   * too.
   */
  readonly control: string;
  readonly #client: Client;
  readonly #random: Random;
  readonly #onValue: (secret: string, value: string) => void;
  /** Indexes into `versions` of values that a slow request may still set again. */
  readonly #mayComeBack = new Set<number>();
  #rotating: Promise<void> = Promise.resolve();

  /** `onValue` is called with each value before the value is sent. */
  constructor(client: Client, random: Random, onValue: (secret: string, value: string) => void) {
    this.#client = client;
    this.#random = random;
    this.#onValue = onValue;
    this.control = this.#valueOf("ROTATED");
    onValue(CONTROL, this.control);
  }

  /** Sets the project's secrets. Also sends every kind of request for a secret that the API must refuse. */
  async createForProject(): Promise<void> {
    for (const name of SECRET_NAMES) await this.#set("POST", PROJECT, "project", name);
    const value = this.#newVersion("refused/ROTATED", "ROTATED").value;
    const refused = [
      ["POST", "", { name: "ROTATED", value }],
      ["POST", "", { name: `no name: ${value}`, value }],
      ["PUT", "/NOT_SET", { value }],
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

  /** Sets the pipeline's own secrets. `owner` names the pipeline in the evidence. */
  async createForPipeline(pipelineId: string, owner: string): Promise<void> {
    for (const name of OF_PIPELINES) await this.#set("POST", `/pipelines/${pipelineId}`, owner, name);
  }

  /** Gives the project's `ROTATED` a new value, after earlier rotations have finished. */
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
    // A request that timed out may still be running, and may set its value again at any time.
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
