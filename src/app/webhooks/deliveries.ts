/** Deliveries of a webhook as those see them who look after it: listed, read, and asked for once more. */
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { asId, type DeliveryId, type ProjectId, type RunId } from "../../domain/ids.ts";
import { type Delivery, DELIVERY_STATES } from "../../stores/ports/deliveries.ts";
import type { Area } from "../../domain/roles.ts";
import type { WithStores } from "../context.ts";
import type { ActingUser, Caller } from "../identity/access.ts";
import { afterField, cursorOf } from "../lists.ts";
import { fields, id, listOf, mapOf, shape, time, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";
import type { WebhookContext } from "./context.ts";
import { type OfWebhook, reachWebhook } from "./webhooks.ts";

export const deliveriesQuery = z.strictObject({
  state: z.enum(DELIVERY_STATES).optional(),
  runId: z.string().max(100).optional(),
  after: afterField.optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

/** Fields of every delivery. */
export const deliveryFields = {
  deliveryId: id<DeliveryId>(),
  state: z.enum(DELIVERY_STATES),
  /** The type of the event. */
  type: z.string(),
  projectId: id<ProjectId>(),
  runId: id<RunId>(),
  /** The number of the event in its run. */
  number: wholeNumber,
  attempts: wholeNumber,
  /** Of the last answer; null without one. */
  status: z.number().int().nullable(),
  /** Why the last try failed; empty otherwise. */
  error: z.string(),
  createdAt: time,
  /** When it is tried next; null when it is not owed. */
  nextTry: time.nullable(),
};
/** The latest tries, the earliest first. */
export const TriesShape = listOf(
  fields({
    at: time,
    /** Milliseconds. */
    duration: wholeNumber,
    status: z.number().int().nullable(),
    error: z.string(),
    request: fields({ url: z.string(), headers: mapOf(z.string()) }),
    /** The beginning of the body. */
    answer: z.string(),
  }),
);
const DeliveryBriefShape = shape("DeliveryInList", deliveryFields);
export const DeliveryPageShape = fields({ list: listOf(DeliveryBriefShape), next: z.string().nullable() });
export const DeliveryShape = shape("Delivery", {
  ...deliveryFields,
  /** What is sent in each try. */
  body: z.string(),
  tries: TriesShape,
});

type OfDelivery = OfWebhook & { readonly deliveryId: DeliveryId };

/** The newest first. Throws `not_found`. */
export async function listDeliveries(
  context: WebhookContext,
  caller: Caller,
  { after, limit, state, runId, ...of }: OfWebhook & z.output<typeof deliveriesQuery>,
): Promise<z.infer<typeof DeliveryPageShape>> {
  await reachWebhook(context, caller, of);
  const filter = { state, runId: runId === undefined ? undefined : asId<RunId>(runId) };
  const found = await context.stores.deliveries.list(of.webhookId, filter, limit + 1, after);
  return deliveryPage(found, limit, briefView);
}

/** `found` has one delivery more than the page when another page follows. */
export function deliveryPage<V>(
  found: readonly Delivery[],
  limit: number,
  view: (delivery: Delivery) => V,
): { readonly list: readonly V[]; readonly next: string | null } {
  const list = found.slice(0, limit);
  const last = list.at(-1);
  const next =
    found.length > limit && last !== undefined ? cursorOf({ at: last.createdAt, id: last.deliveryId }) : null;
  return { list: list.map(view), next };
}

/** Throws `not_found`. */
export async function getDelivery(
  context: WebhookContext,
  caller: Caller,
  of: OfDelivery,
): Promise<z.infer<typeof DeliveryShape>> {
  await reachWebhook(context, caller, of);
  return deliveryView(await findDelivery(context, of));
}

/** Owes an ended delivery once more, with the same id. Throws `not_found`, and `conflict` for one that is owed already. */
export async function redeliver(
  context: WebhookContext,
  caller: Caller,
  of: OfDelivery,
): Promise<z.infer<typeof DeliveryShape>> {
  const { user, found } = await reachWebhook(context, caller, of);
  const delivery = await findDelivery(context, of);
  if (found.disabled !== null) throw new MillraceError("conflict", "the webhook is disabled: enable it first");
  await oweAgain(context, user, delivery, of.area);
  return deliveryView(await findDelivery(context, of));
}

/** Owes a delivery once more, and records who asked for it. Throws `conflict` for one that is owed already. */
export async function oweAgain(
  { stores, clock }: Pick<WebhookContext, "clock"> & WithStores<"deliveries">,
  user: ActingUser,
  { deliveryId, type, runId }: Delivery,
  area: Area,
): Promise<void> {
  await recorded(user, { kind: "delivery", id: deliveryId, area, after: { type, runId } }, async () => {
    if (await stores.deliveries.owe(deliveryId, clock.now())) return;
    throw new MillraceError("conflict", "the delivery is owed already: it is sent once its time has come");
  });
}

async function findDelivery({ stores }: WebhookContext, { webhookId, deliveryId }: OfDelivery): Promise<Delivery> {
  const found = await stores.deliveries.find(deliveryId);
  if (found?.lane === webhookId) return found;
  throw new MillraceError("not_found", `the webhook has no delivery ${JSON.stringify(deliveryId)}`);
}

export function briefView(delivery: Delivery): z.infer<typeof DeliveryBriefShape> {
  const { deliveryId, state, type, projectId, runId, number, attempts, tries, createdAt, dueAt } = delivery;
  const last = tries.at(-1);
  return {
    deliveryId,
    state,
    type,
    projectId,
    runId,
    number,
    attempts,
    status: last?.status ?? null,
    error: last?.error ?? "",
    createdAt: rfc3339(createdAt),
    nextTry: state === "owed" ? rfc3339(dueAt) : null,
  };
}

function deliveryView(delivery: Delivery): z.infer<typeof DeliveryShape> {
  return { ...briefView(delivery), body: delivery.body, tries: triesView(delivery) };
}

export function triesView({ tries }: Delivery): z.infer<typeof TriesShape> {
  return tries.map(({ at, durationMs, ...shown }) => ({ at: rfc3339(at), duration: durationMs, ...shown }));
}
