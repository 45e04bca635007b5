/**
 * The one error table: reason word -> HTTP status, gRPC status, and whether the same call may succeed later. Every
 * error that users get is a {@link MillraceError} with one of these reasons. Each edge translates errors in one
 * function.
 */

/** gRPC status numbers. Source: https://grpc.io/docs/guides/status-codes/ */
const GRPC = {
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const;

interface ErrorRow {
  readonly http: number;
  readonly grpc: number;
  readonly retry: "never" | "later";
}

export const ERROR_TABLE = {
  malformed_request: { http: 400, grpc: GRPC.INVALID_ARGUMENT, retry: "never" },
  invalid_definition: { http: 400, grpc: GRPC.INVALID_ARGUMENT, retry: "never" },
  unauthenticated: { http: 401, grpc: GRPC.UNAUTHENTICATED, retry: "never" },
  forbidden: { http: 403, grpc: GRPC.PERMISSION_DENIED, retry: "never" },
  not_found: { http: 404, grpc: GRPC.NOT_FOUND, retry: "never" },
  method_not_allowed: { http: 405, grpc: GRPC.UNIMPLEMENTED, retry: "never" },
  not_acceptable: { http: 406, grpc: GRPC.INVALID_ARGUMENT, retry: "never" },
  request_timeout: { http: 408, grpc: GRPC.DEADLINE_EXCEEDED, retry: "later" },
  conflict: { http: 409, grpc: GRPC.FAILED_PRECONDITION, retry: "never" },
  already_exists: { http: 409, grpc: GRPC.ALREADY_EXISTS, retry: "never" },
  head_moved: { http: 409, grpc: GRPC.ABORTED, retry: "never" },
  request_id_reused: { http: 409, grpc: GRPC.ALREADY_EXISTS, retry: "never" },
  precondition_failed: { http: 412, grpc: GRPC.FAILED_PRECONDITION, retry: "never" },
  payload_too_large: { http: 413, grpc: GRPC.RESOURCE_EXHAUSTED, retry: "never" },
  range_not_satisfiable: { http: 416, grpc: GRPC.OUT_OF_RANGE, retry: "never" },
  unsupported_media_type: { http: 415, grpc: GRPC.INVALID_ARGUMENT, retry: "never" },
  git_refused: { http: 422, grpc: GRPC.FAILED_PRECONDITION, retry: "never" },
  headers_too_large: { http: 431, grpc: GRPC.RESOURCE_EXHAUSTED, retry: "never" },
  too_large: { http: 400, grpc: GRPC.INVALID_ARGUMENT, retry: "never" },
  slow_reader: { http: 429, grpc: GRPC.RESOURCE_EXHAUSTED, retry: "later" },
  too_many: { http: 429, grpc: GRPC.RESOURCE_EXHAUSTED, retry: "later" },
  internal: { http: 500, grpc: GRPC.INTERNAL, retry: "later" },
  not_implemented: { http: 501, grpc: GRPC.UNIMPLEMENTED, retry: "never" },
  unavailable: { http: 503, grpc: GRPC.UNAVAILABLE, retry: "later" },
  deadline_exceeded: { http: 504, grpc: GRPC.DEADLINE_EXCEEDED, retry: "later" },
} as const satisfies Record<string, ErrorRow>;

export type ErrorReason = keyof typeof ERROR_TABLE;

/**
 * One problem of a request or a definition. `line` and `column` count from 1; they are absent for a request without a
 * text.
 */
export interface Problem {
  readonly code: string;
  /** JSON pointer (RFC 6901) into the body or the definition. */
  readonly pointer: string;
  readonly message: string;
  readonly line?: number;
  readonly column?: number;
  /** The included file that the place is in; absent for the definition itself. */
  readonly file?: string;
}

/** Problems of a request that an error lists, at most. A definition has a bound of its own. */
export const MAX_LISTED_PROBLEMS = 20;

export interface ErrorOptions {
  readonly problems?: readonly Problem[];
  /** How many problems there are, when `problems` holds only the first ones. */
  readonly problemCount?: number;
  /** For an error that may be tried again: when. Default 1. */
  readonly retryAfterSeconds?: number;
  /** For an agent that is to connect again only after this time, milliseconds. It decides `retryAfterSeconds` too. */
  readonly comeBackMs?: number;
  readonly cause?: unknown;
}

/** An error for users: its message says what is wrong, where, and what to do. */
export class MillraceError extends Error {
  override readonly name = "MillraceError";
  readonly reason: ErrorReason;
  /** The first {@link MAX_LISTED_PROBLEMS}; of a definition, all that were found. */
  readonly problems: readonly Problem[];
  /** How many problems there are, with those that are not listed. */
  readonly problemCount: number;
  readonly retryAfterSeconds: number;
  readonly comeBackMs: number | undefined;

  constructor(reason: ErrorReason, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    const { problems = [], problemCount = problems.length, comeBackMs } = options;
    const { retryAfterSeconds = Math.max(1, Math.ceil((comeBackMs ?? 0) / 1_000)) } = options;
    this.reason = reason;
    this.problems = reason === "invalid_definition" ? problems : problems.slice(0, MAX_LISTED_PROBLEMS);
    this.problemCount = problemCount;
    this.retryAfterSeconds = retryAfterSeconds;
    this.comeBackMs = comeBackMs;
  }
}
