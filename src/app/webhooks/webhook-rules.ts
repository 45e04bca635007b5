/**
 * Outgoing webhooks: which events one wants, how a request is signed, and when a failed delivery is tried again. Pure.
 * Source of headers and signature: https://www.standardwebhooks.com
 */
import { createHmac, hash } from "node:crypto";
import type { DeliveryId } from "../../domain/ids.ts";
import type { Delivery } from "../../stores/ports/deliveries.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** A delivery that has not succeeded after this time fails. */
export const DELIVERY_MS = 72 * HOUR_MS;
/**
 * A webhook is disabled when a delivery to it fails for good, and every try has failed for this time. It is shorter than the
 * time of a delivery by more than the longest delay, so that one delivery is enough.
 */
export const FAILING_MS = 60 * HOUR_MS;
/** After a rotation, requests carry the signature of the earlier secret too for this time. */
export const EARLIER_SECRET_MS = 24 * HOUR_MS;

/** The delay after the first failure, the second one, and so on; the last one repeats. */
const DELAYS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
] as const;
/** A delay is longer by up to this share, so that what failed together is not tried again together. */
const SPREAD = 0.2;

const SECRET_PREFIX = "whsec_";
const PATTERN_WORD = /^(?:\*|[A-Za-z0-9_-]{1,60})$/;

/** Why the text is no pattern of event types; undefined for a good one. */
export function patternProblem(pattern: string): string | undefined {
  const words = pattern.split(".");
  if (words.every((word) => PATTERN_WORD.test(word)) && words.length <= 10) return undefined;
  return "must be words of letters, digits, `_` and `-` with dots between them; `*` stands for a word, and at the end for all that follows";
}

/** Whether an event of this type is meant. `*` stands for one word; at the end, for one word or more. */
export function matchesType(pattern: string, type: string): boolean {
  const wanted = pattern.split(".");
  const words = type.split(".");
  const isOpen = wanted.at(-1) === "*";
  if (isOpen ? words.length < wanted.length : words.length !== wanted.length) return false;
  return wanted.every((word, at) => word === "*" || word === words[at]);
}

/** The id of the delivery of an event to a receiver: always the same one, so that a repeat changes nothing. */
export function deliveryIdOf(lane: string, runId: string, what: string): DeliveryId {
  return `msg_${hash("sha256", JSON.stringify([lane, runId, what]), "hex").slice(0, 40)}` as DeliveryId;
}

/** What a delivery that is owed from now on begins with. It is tried first at `dueAt`, Unix milliseconds. */
export function neverTried(
  createdAt: number,
  dueAt = createdAt,
): Pick<Delivery, "state" | "createdAt" | "owedAt" | "dueAt" | "attempts" | "failures" | "tries"> {
  return { state: "owed", createdAt, owedAt: dueAt, dueAt, attempts: 0, failures: 0, tries: [] };
}

/** Milliseconds from a failure to the next try; `failures` counts from 1. */
export function retryDelayMs(deliveryId: DeliveryId, failures: number): number {
  const delayMs = DELAYS_MS[Math.min(failures, DELAYS_MS.length) - 1]!;
  const share = Number.parseInt(hash("sha256", `${deliveryId}/${failures}`, "hex").slice(0, 8), 16) / 2 ** 32;
  return Math.round(delayMs * (1 + SPREAD * share));
}

/** A secret from 24 random bytes, as receivers expect it. */
export function secretOf(bytes: Uint8Array): string {
  return SECRET_PREFIX + Buffer.from(bytes).toString("base64");
}

/**
 * The headers that identify and sign a request. `atSeconds`: Unix seconds. A secret without the prefix is taken as its
 * bytes. Several secrets give several signatures, one of which the receiver has to find.
 */
export function signedHeaders(
  secrets: readonly string[],
  id: string,
  atSeconds: number,
  body: string,
): Readonly<Record<string, string>> {
  const signatures = secrets.map((secret) => {
    const key = secret.startsWith(SECRET_PREFIX)
      ? Buffer.from(secret.slice(SECRET_PREFIX.length), "base64")
      : Buffer.from(secret);
    return `v1,${createHmac("sha256", key).update(`${id}.${atSeconds}.${body}`).digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": String(atSeconds),
    ...(signatures.length > 0 && { "webhook-signature": signatures.join(" ") }),
  };
}
