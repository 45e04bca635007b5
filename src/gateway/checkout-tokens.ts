/**
 * Tokens for the checkouts of granted steps. Messages to an agent keep their order, so a dispatch must not wait for a host: it is
 * built again with the next heartbeat, and the answer of the host is kept until then.
 */
import { hash } from "node:crypto";
import { type AskedCheckout, NoCheckoutTokenError } from "../app/git/checkout-token.ts";
import type { Clock, Timers } from "../domain/clock.ts";
import { MillraceError } from "../domain/errors.ts";
import type { StepRunId } from "../domain/ids.ts";

/** Less than a heartbeat interval. */
const ANSWER_WITHIN_MS = 2_000;
/** Between two questions after one that has failed, unless the host wants a longer pause. */
const PAUSE_MS = 5_000;
/** For how long a step waits. */
const PATIENCE_MS = 120_000;
/** Steps that wait, and pauses, of which this gateway knows; the oldest are forgotten. */
const MAX_KNOWN = 10_000;

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
  /** Since when, by the monotonic clock. */
  readonly #waiting = new Map<StepRunId, number>();
  readonly #pauses = new Map<string, Pause>();

  constructor(options: CheckoutTokensOptions) {
    this.#options = options;
  }

  /**
   * `user:token`. Rejects with `unavailable` while the step has to wait, and with a {@link NoCheckoutTokenError} when it gets no
   * token, or has waited long enough.
   */
  async of(stepRunId: StepRunId, asked: AskedCheckout): Promise<string> {
    const key = JSON.stringify([asked.repoUrl, asked.hasSubmodules, hash("sha256", asked.secret)]);
    try {
      const token = await this.#ask(key, asked);
      this.#waiting.delete(stepRunId);
      return token;
    } catch (error) {
      if (error instanceof NoCheckoutTokenError) throw this.#judge(stepRunId, error);
      throw error;
    }
  }

  #judge(stepRunId: StepRunId, fault: NoCheckoutTokenError): Error {
    const now = this.#options.clock.monotonic();
    const since = this.#waiting.get(stepRunId) ?? now;
    if (fault.mayPass && now - since < PATIENCE_MS) {
      remember(this.#waiting, stepRunId, since);
      return new MillraceError("unavailable", `the step waits for the token of its checkout: ${fault.message}`);
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
