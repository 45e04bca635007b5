/**
 * Rate limits: of each token, and of each address that calls without one. The counts are of this process alone and bounded
 * in memory, and a refused call reaches no store.
 */
import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Middleware } from "koa";
import type { Clock } from "../../domain/clock.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { RateLimits } from "../../domain/quotas.ts";
import type { AddressOf } from "../request/caller-address.ts";
import type { RequestState } from "../request/state.ts";

/** What a request shows for its caller, such as a bearer header or a session cookie; "" for nothing. */
type ProofOf = (headers: IncomingHttpHeaders) => string;

const WINDOW_MS = 60_000;
/** Callers that are counted at a time. When there are more, those whose calls are longest ago start again. */
const MAX_COUNTED = 50_000;

/** What is left of a limit after a call. */
export interface Allowance {
  readonly isAllowed: boolean;
  readonly left: number;
  /** Seconds until a call is allowed again, or until the whole limit is there again. */
  readonly seconds: number;
}

/**
 * Counts the calls of each key by the generic cell rate algorithm: one number for each key, the time at which all of its
 * calls would have come at an even pace. So a limit comes back evenly, and no window has an edge at which twice the limit
 * passes.
 */
export class CallCounter {
  readonly #intervalMs: number;
  readonly #most: number;
  /** Sorted by the time of the last call, because each call enters its key again. */
  readonly #paidUntil = new Map<string, number>();

  constructor(limit: number, most: number = MAX_COUNTED) {
    this.#intervalMs = WINDOW_MS / limit;
    this.#most = most;
  }

  get size(): number {
    return this.#paidUntil.size;
  }

  /** Counts a call; a refused call does not count. */
  take(key: string, nowMs: number): Allowance {
    const allowance = this.look(key, nowMs);
    if (!allowance.isAllowed) return allowance;
    const paidUntil = Math.max(this.#paidUntil.get(key) ?? 0, nowMs) + this.#intervalMs;
    this.#paidUntil.delete(key);
    this.#paidUntil.set(key, paidUntil);
    if (this.#paidUntil.size > this.#most) this.#paidUntil.delete(this.#paidUntil.keys().next().value!);
    return { isAllowed: true, left: allowance.left - 1, seconds: Math.ceil((paidUntil - nowMs) / 1_000) };
  }

  /** What a call would be answered, without counting one. */
  look(key: string, nowMs: number): Allowance {
    const aheadMs = Math.max(0, (this.#paidUntil.get(key) ?? 0) - nowMs);
    const left = Math.floor((WINDOW_MS - aheadMs) / this.#intervalMs + 1e-6);
    const isAllowed = left >= 1;
    const waitMs = isAllowed ? aheadMs : this.#intervalMs - (WINDOW_MS - aheadMs);
    return { isAllowed, left: Math.max(0, left), seconds: Math.max(1, Math.ceil(waitMs / 1_000)) };
  }
}

/** Counts by a limit that may change: after a change all callers start again. */
class ChangingCounter {
  #limit: number | null = null;
  #counter: CallCounter | null = null;

  /** Null without a limit. */
  under(limit: number | null): CallCounter | null {
    if (limit !== this.#limit) this.#counter = limit === null ? null : new CallCounter(limit);
    this.#limit = limit;
    return this.#counter;
  }
}

/**
 * Throws `too_many` for a caller above the limit. `limits` answers those that count now. A call with a token counts for the token; when the token proves nothing,
 * the call counts for its address, too, so that guesses of tokens are counted and other callers of the address are not
 * refused.
 */
export function limitRates(
  clock: Pick<Clock, "monotonic">,
  limits: () => RateLimits,
  addressOf: AddressOf,
  proofOf: ProofOf = ({ authorization = "" }) => authorization,
  isOfSender: (path: string) => boolean = () => false,
): Middleware<RequestState> {
  const [tokens, addresses] = [new ChangingCounter(), new ChangingCounter()];
  const take = (ctx: RequestContext, policy: "token" | "address", counter: ChangingCounter, key: () => string) => {
    const limit = limits()[policy];
    const counted = counter.under(limit);
    if (counted !== null) announce(ctx, policy, limit!, counted.take(key(), clock.monotonic()));
  };
  return async (ctx, next) => {
    if (isOfSender(ctx.path)) {
      // Many senders share few addresses, and each hook has a limit of its own: only calls that are refused count.
      const limit = limits().address;
      const counted = addresses.under(limit);
      if (counted !== null) announce(ctx, "address", limit!, counted.look(addressOf(ctx.req), clock.monotonic()));
      try {
        return await next();
      } catch (error) {
        if (isGuess(error)) counted?.take(addressOf(ctx.req), clock.monotonic());
        throw error;
      }
    }
    const proof = proofOf(ctx.headers);
    // The digest, so that no token is kept longer than its call.
    if (proof !== "") take(ctx, "token", tokens, () => hash("sha1", proof, "base64"));
    else take(ctx, "address", addresses, () => addressOf(ctx.req));
    try {
      await next();
    } catch (error) {
      const isUnproven = error instanceof MillraceError && error.reason === "unauthenticated" && proof !== "";
      if (isUnproven) take(ctx, "address", addresses, () => addressOf(ctx.req));
      throw error;
    }
  };
}

/** A call that names no hook, or does not prove its sender. */
function isGuess(error: unknown): boolean {
  return error instanceof MillraceError && (error.reason === "unauthenticated" || error.reason === "not_found");
}

type RequestContext = Pick<Parameters<Middleware<RequestState>>[0], "set">;

/** Source of the headers: draft-ietf-httpapi-ratelimit-headers. */
function announce(
  ctx: RequestContext,
  policy: "token" | "address",
  limit: number,
  { isAllowed, left, seconds }: Allowance,
): void {
  ctx.set("RateLimit-Policy", `"${policy}";q=${limit};w=${WINDOW_MS / 1_000}`);
  ctx.set("RateLimit", `"${policy}";r=${left};t=${seconds}`);
  if (isAllowed) return;
  const whose = policy === "token" ? "this token" : "this address without a valid token";
  throw new MillraceError("too_many", `${limit} calls a minute are allowed for ${whose}: wait ${seconds} s`, {
    retryAfterSeconds: seconds,
  });
}
