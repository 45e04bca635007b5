/** What answers of hosts' APIs say beside their results. Pure. */
import type { ReceivedAnswer } from "../outgoing/requests.ts";

const MAX_WORDS = 300;
/** The longest wait that a host may ask for. */
const MAX_RETRY_SECONDS = 3_600;
/** Where a host asks for a pause without saying how long. */
export const USUAL_RETRY_SECONDS = 60;

export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The words of an error, without the secrets: `message` of most hosts, `error.message` of Bitbucket, and the first of the
 * `errors`.
 */
export function wordsOf(text: string, secrets: readonly string[]): string {
  const body = jsonOf(text) as Readonly<Record<string, unknown>> | null | undefined;
  const { message, error, errors } = body ?? {};
  const inner = (error as { readonly message?: unknown } | undefined)?.message;
  const first = Array.isArray(errors) ? (errors[0] as { readonly message?: unknown } | string | undefined) : undefined;
  const detail = typeof first === "object" ? first.message : first;
  const parts = [message, inner ?? error, detail].flat().filter((part) => typeof part === "string");
  const line = parts.join(": ").replaceAll(/[\p{C}\s]+/gu, " ");
  const masked = secrets.reduce((shown, secret) => (secret === "" ? shown : shown.replaceAll(secret, "***")), line);
  return masked.slice(0, MAX_WORDS).trim();
}

/** The status with the words. */
export function shownAnswer({ status, text }: ReceivedAnswer, secrets: readonly string[]): string {
  const said = wordsOf(text, secrets);
  return `${status}${said === "" ? "" : ` ${said}`}`;
}

/** Whether the host asks for a pause. GitHub answers 403 also when a token has made too many calls. */
export function isRateLimit({ status, headers = {} }: ReceivedAnswer): boolean {
  const isSaid = headers["retry-after"] !== undefined || headers["x-ratelimit-remaining"] === "0";
  return status === 429 || (status === 403 && isSaid);
}

/** Whether the host, and not the call, is at fault. */
export function isFailure({ status }: ReceivedAnswer): boolean {
  return status >= 500 || status === 408;
}

export function retryAfterOf({ headers = {} }: ReceivedAnswer): number | null {
  const seconds = Number(headers["retry-after"]);
  if (headers["retry-after"] === undefined || !Number.isInteger(seconds) || seconds < 0) return null;
  return Math.min(Math.max(seconds, 1), MAX_RETRY_SECONDS);
}
