/** Deliveries of a webhook as those see them who look after it: listed, read, and asked for once more. */
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { asId, type DeliveryId, type ProjectId, type RunId } from "../../domain/ids.ts";
import { type Delivery, DELIVERY_STATES } from "../../stores/ports/deliveries.ts";
import type { Caller } from "../identity/access.ts";
import { fields, id, listOf, shape, wholeNumber } from "../shapes.ts";
import type { WebhookContext } from "./context.ts";
import {
  deliveryPage,
  oweOnceMore,
  outcomeFields,
  outcomeOf,
  pageFields,
  triesField,
  triesOf,
} from "./delivery-views.ts";
import { type OfWebhook, reachWebhook } from "./webhooks.ts";

const { state: stateField, ...placeFields } = pageFields;
export const deliveriesQuery = z.strictObject({
  state: stateField,
  runId: z.string().max(100).optional(),
  ...placeFields,
});

const briefFields = () => ({
  deliveryId: id<DeliveryId>(),
  state: z.enum(DELIVERY_STATES),
  /** The type of the event. */
  type: z.string(),
  /** Empty for a system event, as `runId` is. */
  projectId: id<ProjectId>(),
  runId: id<RunId>(),
  /** The number of the event in its run or log. */
  number: wholeNumber,
  ...outcomeFields,
});
const DeliveryBriefShape = shape("DeliveryInList", briefFields);
export const DeliveryPageShape = fields(() => ({ list: listOf(DeliveryBriefShape), next: z.string().nullable() }));
export const DeliveryShape = shape("Delivery", () => ({
  ...briefFields(),
  /** What is sent in each try. */
  body: z.string(),
  tries: triesField,
}));

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
  const { deliveryId, type, runId } = await findDelivery(context, of);
  if (found.disabled !== null) throw new MillraceError("conflict", "the webhook is disabled: enable it first");
  const change = { kind: "delivery", id: deliveryId, area: of.area, after: { type, runId } } as const;
  await recorded(user, change, () => oweOnceMore(context, { deliveryId }, "delivery"));
  return deliveryView(await findDelivery(context, of));
}

async function findDelivery({ stores }: WebhookContext, { webhookId, deliveryId }: OfDelivery): Promise<Delivery> {
  const found = await stores.deliveries.find(deliveryId);
  if (found?.lane === webhookId) return found;
  throw new MillraceError("not_found", `the webhook has no delivery ${JSON.stringify(deliveryId)}`);
}

function briefView(delivery: Delivery): z.infer<typeof DeliveryBriefShape> {
  const { deliveryId, state, type, projectId, runId, number } = delivery;
  return {
    deliveryId,
    state,
    type,
    projectId,
    runId,
    number,
    ...outcomeOf(delivery),
  };
}

function deliveryView(delivery: Delivery): z.infer<typeof DeliveryShape> {
  return { ...briefView(delivery), body: delivery.body, tries: triesOf(delivery) };
}
