/** What an error means to the person who reads the page. */
import { words } from "../words.ts";
import { ApiError, ConnectionError } from "../../../clients/typescript/src/errors.ts";

export type ProblemKind = "forbidden" | "gone" | "offline" | "failed";

/** What a page shows that waits for its first message of the WebSocket while there is no connection. */
export const NOT_CONNECTED = new ConnectionError("GET /ws", "the server does not answer");

export function problemKind(error: unknown): ProblemKind {
  if (error instanceof ConnectionError) return "offline";
  if (!(error instanceof ApiError)) return "failed";
  if (error.reason === "forbidden") return "forbidden";
  return error.reason === "not_found" ? "gone" : "failed";
}

/** How long to wait before a read is repeated that the server had no room for now; undefined for every other error. */
export function busyMs(error: unknown): number | undefined {
  if (!(error instanceof ApiError) || (error.code !== 503 && error.code !== 429)) return undefined;
  return error.retryAfterMs ?? 0;
}

/** The text of an error, with what is wrong at each place of a request, and without the full stop. */
export function problemText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The text of the API is for programs, which have a token to send.
  if (isReason(error, "unauthenticated")) return words.states.sessionEnded;
  const places = error instanceof ApiError ? error.problems.map(({ message }) => message) : [];
  const more = places.filter((message) => !error.message.includes(message));
  return [error.message, ...more].join("; ").replace(/\.$/, "");
}

/** The id by which the log of the server knows the failed call, where the server itself has failed. */
export function problemId(error: unknown): string | undefined {
  return error instanceof ApiError && error.code >= 500 ? error.requestId : undefined;
}

export function isReason(error: unknown, reason: ApiError["reason"]): error is ApiError {
  return error instanceof ApiError && error.reason === reason;
}
