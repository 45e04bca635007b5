/** The envelopes of every HTTP answer. Source: SPEC "Response envelopes (HTTP)". */
import { ERROR_TABLE, MillraceError, type Problem } from "../domain/errors.ts";

export interface SuccessEnvelope {
  readonly code: 0;
  readonly msg: string;
  readonly detail?: unknown;
  /** Unix seconds. */
  readonly timestamp: number;
}

export interface ErrorEnvelope {
  /** The HTTP status. */
  readonly code: number;
  readonly errMsg: string;
  readonly path: string;
  readonly timestamp: number;
  /** Word of the error table. */
  readonly reason: string;
  readonly errors: readonly Problem[];
  /** How many problems there are; present only when `errors` does not list them all. */
  readonly errorCount?: number;
}

/** The answer of a call that succeeded. It has no `detail` when `detail` is undefined. */
export function successEnvelope(detail: unknown, nowMs: number): SuccessEnvelope {
  const timestamp = Math.floor(nowMs / 1_000);
  return detail === undefined ? { code: 0, msg: "success", timestamp } : { code: 0, msg: "success", detail, timestamp };
}

export function errorEnvelope(error: MillraceError, path: string, nowMs: number): ErrorEnvelope {
  return {
    code: ERROR_TABLE[error.reason].http,
    errMsg: error.message,
    path,
    timestamp: Math.floor(nowMs / 1_000),
    reason: error.reason,
    errors: error.problems,
    ...(error.problemCount > error.problems.length ? { errorCount: error.problemCount } : {}),
  };
}

/**
 * The error that a user sees. A {@link MillraceError} is shown as it is, except `internal`; an unreachable Redis is
 * shown as `unavailable`. Every other error goes to `onInternal`, and the user sees an internal error with `hint`,
 * which must say what the user can do.
 */
export function publicError(error: unknown, hint: string, onInternal: (error: unknown) => void): MillraceError {
  if (error instanceof MillraceError && error.reason !== "internal") return error;
  if (isRedisUnreachable(error)) {
    return new MillraceError("unavailable", "Redis cannot be reached: nothing is lost; try again in a moment");
  }
  onInternal(error);
  return new MillraceError("internal", `an internal error: ${hint}`);
}

/** Messages of ioredis for a command that failed because of the connection: the errors of ioredis have no codes. */
const REDIS_UNREACHABLE = /^(?:Command timed out|Connection is closed|Reached the max retries per request limit)/;

function isRedisUnreachable(error: unknown): boolean {
  return error instanceof Error && REDIS_UNREACHABLE.test(error.message);
}
