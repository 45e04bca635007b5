/**
 * Tokens for the checkouts of granted steps. Messages to an agent keep their order, so a dispatch must not wait for a host: it is
 * built again with the next heartbeat, and the answer of the host is kept until then.
 */
import { hash } from "node:crypto";
import { type AskedCheckout, NoCheckoutTokenError } from "../app/git/checkout-token.ts";
import type { Clock, Timers } from "../domain/clock.ts";
import { MillraceError } from "../domain/errors.ts";
import type { StepWait } from "../board/board.ts";
import type { GrantedStep } from "../domain/effects.ts";
import type { AgentId, StepRunId } from "../domain/ids.ts";

/** Less than a heartbeat interval. */
const ANSWER_WITHIN_MS = 2_000;
/** Between two questions after one that has failed, unless the host wants a longer pause. */
const PAUSE_MS = 5_000;
/** For how long a step waits. */
const PATIENCE_MS = 120_000;
/** A step that was not asked for again within this time waits no more: a dispatch is built again with each heartbeat. */
const SHOWN_MS = 15_000;
/** Steps of an agent that are said to wait, and how much is said of each. */
const MAX_SHOWN = 20;
const TEXT_CHARS = 300;
/** Steps that wait, and pauses, of which this gateway knows; the oldest are forgotten. */
const MAX_KNOWN = 10_000;

const NONE: readonly StepWait[] = [];

interface Waiting extends Pick<GrantedStep, "agentId"> {
  /** By the monotonic clock, as `askedAt`. */
  readonly since: number;
  readonly askedAt: number;
  /** For people. */
  readonly text: string;
}

interface Pause {
  readonly fault: NoCheckoutTokenError;
  /** By the monotonic clock. */
  readonly until: number;
}

export interface CheckoutTokensOptions {
  /** Rejects with a {@link NoCheckoutTokenError}. Calls for the same token that overlap are one question to the host. */
  readonly ask: (asked: AskedCheckout) => Promise<string>;
  readonly clock: Pick<Clock, "monotonic">;
  readonly timers: Timers;
}

export class CheckoutTokens {
  readonly #options: CheckoutTokensOptions;
  readonly #waiting = new Map<StepRunId, Waiting>();
  readonly #pauses = new Map<string, Pause>();

  constructor(options: CheckoutTokensOptions) {
    this.#options = options;
  }

  /**
   * `user:token`. Rejects with `unavailable` while the step has to wait, and with a {@link NoCheckoutTokenError} when it gets no
   * token, or has waited long enough.
   */
  async of(step: Pick<GrantedStep, "stepRunId" | "agentId">, asked: AskedCheckout): Promise<string> {
    const key = JSON.stringify([asked.repoUrl, asked.hasSubmodules, hash("sha256", asked.secret)]);
    try {
      const token = await this.#ask(key, asked);
      this.#waiting.delete(step.stepRunId);
      return token;
    } catch (error) {
      if (error instanceof NoCheckoutTokenError) throw this.#judge(step, error);
      throw error;
    }
  }

  /** The steps that the agent was granted and that wait for a token now, at most {@link MAX_SHOWN}. */
  waitsOf(agentId: AgentId): readonly StepWait[] {
    if (this.#waiting.size === 0) return NONE;
    const earliest = this.#options.clock.monotonic() - SHOWN_MS;
    const waits = [...this.#waiting].flatMap(([stepRunId, wait]) =>
      wait.agentId === agentId && wait.askedAt > earliest ? [{ stepRunId, text: wait.text }] : [],
    );
    return waits.slice(0, MAX_SHOWN);
  }

  #judge({ stepRunId, agentId }: Pick<GrantedStep, "stepRunId" | "agentId">, fault: NoCheckoutTokenError): Error {
    const now = this.#options.clock.monotonic();
    const since = this.#waiting.get(stepRunId)?.since ?? now;
    if (fault.mayPass && now - since < PATIENCE_MS) {
      const text = `waits for the token of its checkout: ${fault.message}`;
      remember(this.#waiting, stepRunId, { agentId, since, askedAt: now, text: text.slice(0, TEXT_CHARS) });
      return new MillraceError("unavailable", `the step ${text}`);
    }
    this.#waiting.delete(stepRunId);
    if (!fault.mayPass) return fault;
    return new NoCheckoutTokenError(`${fault.message} (asked for ${Math.round((now - since) / 1_000)} s)`);
  }

  async #ask(key: string, asked: AskedCheckout): Promise<string> {
    const { clock, ask } = this.#options;
    const paused = this.#pauses.get(key);
    if (paused !== undefined && paused.until > clock.monotonic()) throw paused.fault;
    const asking = ask(asked);
    asking.then(
      () => this.#pauses.delete(key),
      (error: unknown) => this.#pauseAfter(key, error),
    );
    return this.#within(asking);
  }

  #pauseAfter(key: string, error: unknown): void {
    if (!(error instanceof NoCheckoutTokenError) || !error.mayPass) return;
    const pauseMs = Math.max(PAUSE_MS, (error.retryAfterSeconds ?? 0) * 1_000);
    remember(this.#pauses, key, { fault: error, until: this.#options.clock.monotonic() + pauseMs });
  }

  #within(asking: Promise<string>): Promise<string> {
    return new Promise((resolve, reject) => {
      const late = () => reject(new NoCheckoutTokenError("the host has not answered yet", { mayPass: true }));
      const cancel = this.#options.timers.after(ANSWER_WITHIN_MS, late);
      asking.then(resolve, reject).finally(cancel);
    });
  }
}

function remember<K, V>(map: Map<K, V>, key: K, value: V): void {
  map.set(key, value);
  if (map.size > MAX_KNOWN) map.delete(map.keys().next().value!);
}
