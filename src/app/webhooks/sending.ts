/** One try of a delivery: what was sent and what came back, as far as the record keeps it. */
import { NoAnswerError, type ReceivedAnswer } from "../../outgoing/requests.ts";
import type { Delivery, DeliveryTry } from "../../stores/ports/deliveries.ts";
import type { AppContext } from "../context.ts";
import type { Sent } from "./receivers.ts";

/** Characters of the answer that a try keeps. */
const ANSWER_CHARS = 2_000;

export interface Attempt {
  /** Without secrets; the signature of a webhook is hidden. */
  readonly headers: Readonly<Record<string, string>>;
  /** Texts that no record shows: a receiver may answer with what it was sent. */
  readonly secrets: readonly string[];
  /** Where it goes, for people. */
  readonly address: string;
  /** Parts of the address when it is a secret: no record shows them. */
  readonly secretPlace?: readonly string[];
  readonly send: () => Promise<ReceivedAnswer>;
  /** Whether the answer says that the receiver wants nothing more. */
  readonly isGone: (status: number) => boolean;
}

/** A delivery that no later try will bring. The message is for those who see the delivery. */
export class UndeliverableError extends Error {}

/** `prepare` opens what is sealed; `address` is shown when it fails. Its errors must hold no secret. */
export async function tryToSend(
  { clock, log }: Pick<AppContext, "clock" | "log">,
  { deliveryId }: Pick<Delivery, "deliveryId">,
  address: string,
  prepare: (at: number) => Promise<Attempt>,
): Promise<Sent> {
  const at = clock.now();
  const began = clock.monotonic();
  let attempt: Attempt | undefined;
  const triedWith = (status: number | null, error: string, answer: string): DeliveryTry => ({
    at,
    durationMs: Math.round(clock.monotonic() - began),
    status,
    error: withoutSecrets(error, attempt),
    request: { url: attempt?.address ?? address, headers: withoutSignature(attempt?.headers ?? {}) },
    answer: withoutSecrets(answer, attempt).slice(0, ANSWER_CHARS),
  });
  try {
    attempt = await prepare(at);
    const answer = await attempt.send();
    const error = problemOf(answer);
    const outcome = error === "" ? "delivered" : attempt.isGone(answer.status) ? "gone" : "failed";
    return { outcome, tried: triedWith(answer.status, error, answer.text) };
  } catch (error) {
    const words = wordsOf(error, attempt);
    const isUndeliverable = error instanceof UndeliverableError;
    if (!(error instanceof NoAnswerError) && !isUndeliverable)
      log.warn({ deliveryId, error: withoutSecrets(words, attempt) }, "a delivery could not be sent");
    return { outcome: isUndeliverable ? "gone" : "failed", tried: triedWith(null, words, "") };
  }
}

function problemOf({ status }: ReceivedAnswer): string {
  if (status >= 200 && status < 300) return "";
  if (status >= 300 && status < 400) return `the receiver answers ${status}: a redirect, which is not followed`;
  return `the receiver answers ${status}`;
}

function withoutSignature({ "webhook-signature": signature, ...headers }: Readonly<Record<string, string>>) {
  return { ...headers, ...(signature !== undefined && { "webhook-signature": "***" }) };
}

function wordsOf(error: unknown, attempt: Attempt | undefined): string {
  if (error instanceof NoAnswerError && attempt?.secretPlace !== undefined) return error.withoutHost;
  return error instanceof Error ? error.message : String(error);
}

/** Receivers repeat what they were sent in letters of their own: `EXAMPLE.ORG` for a host. */
function withoutSecrets(text: string, attempt: Attempt | undefined): string {
  let shown = text;
  // A short text is no secret, and is in every answer.
  const secrets = (attempt?.secrets ?? []).filter((secret) => secret.length >= 6 && secret !== attempt?.address);
  secrets.push(...(attempt?.secretPlace ?? []).filter((part) => part.length >= 2));
  for (const secret of secrets.toSorted((a, b) => b.length - a.length)) {
    shown = shown.replaceAll(new RegExp(secret.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"), "gi"), "***");
  }
  return shown;
}

/** An address and its parts that may be secrets. */
export function secretsOfAddress(url: string): readonly string[] {
  if (!URL.canParse(url)) return [url];
  const { href, password, search, searchParams } = new URL(url);
  return [url, href, decoded(password), search.slice(1), ...searchParams.values()];
}

/** The path of an address, and what is between its slashes. */
export function pathsOf(url: string): readonly string[] {
  if (!URL.canParse(url)) return [];
  const { pathname } = new URL(url);
  return [pathname, ...pathname.split("/")].flatMap((part) => [part, decoded(part)]);
}

/** The host of an address, with and without its port, and its path. */
export function placeOf(url: string): readonly string[] {
  if (!URL.canParse(url)) return [];
  const { host, hostname, pathname } = new URL(url);
  return [host, hostname, pathname, decoded(pathname)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
