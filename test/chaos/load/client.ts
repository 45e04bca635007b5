/** A client as the author of a service would write it: it knows every edge and repeats a call until an edge answers. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../world/random.ts";

/** An answer with a status from 400 to 499: repeating the call would not change the answer. */
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

interface ClientRequest {
  readonly method: string;
  /** From the root of the edge. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

const REPEAT_MS = 150;
export const REQUEST_TIMEOUT_MS = 10_000;
const GIVE_UP_MS = 90_000;

export class Client {
  readonly #urls: readonly string[];
  readonly #token: string;
  readonly #random: Random;
  /** Descriptions of answers that no fault excuses: a status of 500 or more other than 503. */
  readonly improper: string[] = [];
  readonly #onAnswer: (answer: string, question: string) => void;

  /** `onAnswer` is called with every answer: refusals and messages from WebSockets included. */
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

  /** Passes an answer on to `onAnswer`; for callers that read answers themselves, such as messages from a WebSocket. */
  reportAnswer(answer: string, question: string): void {
    this.#onAnswer(answer, question);
  }

  get authorization(): string {
    return `Bearer ${this.#token}`;
  }

  /** The address of a random edge. */
  anyUrl(): string {
    return this.#random.pick(this.#urls);
  }

  /**
   * Calls random edges until one answers with a status below 500. Rejects with a {@link Refusal} for a status from 400
   * to 499 other than 429, and after 90 s without such an answer. The first call goes to the edge at `firstUrl`, when it is given.
   */
  async call<T>(method: string, path: string, body?: unknown, firstUrl?: string): Promise<T> {
    const headers = {
      authorization: this.authorization,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    const request = { method, path: `/api/v1${path}`, headers, body: body === undefined ? null : JSON.stringify(body) };
    return (await this.#untilAnswered(request, firstUrl)) as T;
  }

  /** Sends a delivery to the path of a hook, as the sender of events does that repeats what was not answered. */
  async deliver<T>(path: string, headers: Readonly<Record<string, string>>, body: string): Promise<T> {
    const all = { ...headers, "content-type": "application/json" };
    return (await this.#untilAnswered({ method: "POST", path, headers: all, body })) as T;
  }

  async #untilAnswered(request: ClientRequest, firstUrl?: string): Promise<unknown> {
    const { method, path } = request;
    const end = performance.now() + GIVE_UP_MS;
    for (let url = firstUrl; ; url = undefined) {
      try {
        const answer = await this.#ask(request, url ?? this.anyUrl());
        if (answer !== null) return answer.detail;
      } catch (error) {
        if (error instanceof Refusal) throw error;
        // The edge could not be reached, or died before its answer.
        if (performance.now() > end) throw error;
      }
      if (performance.now() > end) throw new Error(`${method} ${path}: no edge answered within ${GIVE_UP_MS} ms`);
      await sleep(REPEAT_MS);
    }
  }

  /** Calls one edge. Null for an answer after which the call is repeated: 429, and any status from 500. */
  async #ask({ method, path, headers, body }: ClientRequest, url: string): Promise<Envelope | null> {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS);
    const response = await fetch(`${url}${path}`, { method, headers, body, signal });
    const text = await response.text();
    this.reportAnswer(text, `${method} ${path}`);
    // The attacks come from the same address as the deliveries, whose calls without a token are counted together.
    if (response.status === 429 || response.status === 503) return null;
    if (response.status >= 500) {
      this.improper.push(`${method} ${path} was answered with ${response.status}: ${text.slice(0, 300)}`);
      return null;
    }
    const answer = JSON.parse(text) as Envelope;
    if (response.status >= 400) throw new Refusal(response.status, answer.errMsg ?? text);
    return answer;
  }
}
