/** Which failed attempts are repeated. */
import { ApiError, ClientError, ConnectionError, ForeignAnswerError } from "./errors.ts";
import { backoffMs } from "./waiting.ts";

const MOST_BACKOFF_MS = 5_000;
/** Statuses of proxies whose server does not answer now. */
const GATEWAY_STATUSES: readonly number[] = [502, 503, 504];

/** What decides whether an attempt may be repeated. */
export interface Attempt {
  /** 1 for the first. */
  readonly number: number;
  /** True when a repeat has no other effect than the first attempt. */
  readonly isRepeatable: boolean;
  /** A longer `Retry-After` is not waited for. */
  readonly longestWaitMs: number;
}

/**
 * How long to wait before the next attempt; undefined when there must be none. 429 says that nothing was done, so
 * every call may be repeated after it; after other failures the server may have performed the call.
 */
export function retryDelayMs(
  error: unknown,
  { number, isRepeatable, longestWaitMs }: Attempt,
  random: () => number = Math.random,
): number | undefined {
  if (!(error instanceof ClientError)) return undefined;
  const wasRefusedForNow = error instanceof ApiError && error.code === 429;
  if (!wasRefusedForNow && !(isRepeatable && isTemporary(error))) return undefined;
  const asked = error instanceof ApiError ? error.retryAfterMs : undefined;
  if (asked === undefined) return backoffMs(number, MOST_BACKOFF_MS, random);
  return asked > longestWaitMs ? undefined : asked;
}

/** True when the same call may succeed later. */
export function isTemporary(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  if (error instanceof ForeignAnswerError) return GATEWAY_STATUSES.includes(error.status);
  return error instanceof ApiError && (error.code === 429 || GATEWAY_STATUSES.includes(error.code));
}
