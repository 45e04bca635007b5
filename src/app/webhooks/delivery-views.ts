/** What lists of webhooks' deliveries and of notifications have in common: both are deliveries of the store. */
import { z } from "zod";
import { MillraceError } from "../../domain/errors.ts";
import { type Delivery, DELIVERY_STATES } from "../../stores/ports/deliveries.ts";
import type { AppContext, WithStores } from "../context.ts";
import { afterField, cursorOf } from "../lists.ts";
import { fields, listOf, mapOf, time, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";

/** The parameters of a list. */
export const pageFields = {
  state: z.enum(DELIVERY_STATES).optional(),
  after: afterField.optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
};

/** What became of a delivery. */
export const outcomeFields = {
  attempts: wholeNumber,
  /** Of the last answer; null without one. */
  status: z.number().int().nullable(),
  /** Why the last try failed; empty otherwise. */
  error: z.string(),
  createdAt: time,
  /** When it was tried last; null before the first try. */
  lastTry: time.nullable(),
  /** When it is tried next; null when it is not owed. */
  nextTry: time.nullable(),
};

export function outcomeOf({ state, attempts, tries, createdAt, dueAt }: Delivery) {
  const last = tries.at(-1);
  return {
    attempts,
    status: last?.status ?? null,
    error: last?.error ?? "",
    createdAt: rfc3339(createdAt),
    lastTry: last === undefined ? null : rfc3339(last.at),
    nextTry: state === "owed" ? rfc3339(dueAt) : null,
  };
}

/** The latest tries, the earliest first. */
export const triesField = listOf(
  fields(() => ({
    at: time,
    /** Milliseconds. */
    duration: wholeNumber,
    status: z.number().int().nullable(),
    error: z.string(),
    /** Without secrets. */
    request: fields(() => ({ url: z.string(), headers: mapOf(z.string()) })),
    /** The beginning of the body. */
    answer: z.string(),
  })),
);

export function triesOf({ tries }: Delivery): z.infer<typeof triesField> {
  return tries.map(({ at, durationMs, ...shown }) => ({ at: rfc3339(at), duration: durationMs, ...shown }));
}

/** A page of at most `limit` deliveries. `found` holds one more when another page follows. */
export function deliveryPage<V>(found: readonly Delivery[], limit: number, view: (delivery: Delivery) => V) {
  const list = found.slice(0, limit);
  const last = found.length > limit ? list.at(-1) : undefined;
  return {
    list: list.map(view),
    next: last === undefined ? null : cursorOf({ at: last.createdAt, id: last.deliveryId }),
  };
}

/** Owes an ended delivery once more. `what` names it in the error. Throws `conflict` for one that is owed already. */
export async function oweOnceMore(
  { stores, clock }: Pick<AppContext, "clock"> & WithStores<"deliveries">,
  { deliveryId }: Pick<Delivery, "deliveryId">,
  what: "delivery" | "notification",
): Promise<void> {
  if (await stores.deliveries.owe(deliveryId, clock.now())) return;
  throw new MillraceError("conflict", `the ${what} is owed already: it is sent once its time has come`);
}
