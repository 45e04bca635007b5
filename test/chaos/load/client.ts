/** A client as a service would write one: it knows every edge, and repeats what may be repeated until it is answered. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../world/random.ts";

/** An answer that repeating does not change: a status from 400 to 499. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface Envelope {
  readonly code: number;
  readonly errMsg?: string;
  readonly detail: unknown;
}

const REPEAT_MS = 150;
export const REQUEST_TIMEOUT_MS = 10_000;
const PATIENCE_MS = 90_000;

export class Client {
  readonly #urls: readonly string[];
  readonly #token: string;
  readonly #random: Random;
  /** Answers that no fault excuses: a 500, or no envelope. */
  readonly improper: string[] = [];
  readonly #onAnswer: (answer: string, question: string) => void;

  /** `onAnswer` is told of each answer, of those that say no, and of what came over WebSockets. */
  constructor(
    urls: readonly string[],
    token: string,
    random: Random,
    onAnswer: (answer: string, question: string) => void,
  ) {
    this.#urls = urls;
    this.#token = token;
    this.#random = random;
    this.#onAnswer = onAnswer;
  }

  /** For what was answered to a question that this client has not asked itself. */
  heard(answer: string, question: string): void {
    this.#onAnswer(answer, question);
  }

  get authorization(): string {
    return `Bearer ${this.#token}`;
  }

  /** The address of one of the edges, not always the same. */
  anyUrl(): string {
    return this.#random.pick(this.#urls);
  }

  /** Asks one edge after the other until one answers with less than 500. Rejects with a {@link Refusal}, or after 90 s. */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        const answer = await this.#ask(method, path, body);
        if (answer !== null) return answer.detail as T;
      } catch (error) {
        if (error instanceof Refusal) throw error;
        // An edge that cannot be reached, or that went down before it had answered.
        if (performance.now() > end) throw error;
      }
      if (performance.now() > end) throw new Error(`${method} ${path}: nobody could answer for ${PATIENCE_MS} ms`);
      await sleep(REPEAT_MS);
    }
  }

  /** Null for an answer that says: later. */
  async #ask(method: string, path: string, body: unknown): Promise<Envelope | null> {
    const response = await fetch(`${this.anyUrl()}/api/v1${path}`, {
      method,
      headers: {
        authorization: this.authorization,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    const text = await response.text();
    this.heard(text, `${method} ${path}`);
    if (response.status === 503) return null;
    if (response.status >= 500) {
      this.improper.push(`${method} ${path} was answered with ${response.status}: ${text.slice(0, 300)}`);
      return null;
    }
    const answer = JSON.parse(text) as Envelope;
    if (response.status >= 400) throw new Refusal(response.status, answer.errMsg ?? text);
    return answer;
  }
}
