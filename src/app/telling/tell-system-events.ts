/**
 * Turns system events of tenants into owed deliveries to the tenants' webhooks that name them. The store knows how far the
 * log of each such tenant is told; a crash in between owes the same deliveries once more, under the same ids.
 */
import { asId, type ProjectId, type RunId, type TenantId } from "../../domain/ids.ts";
import { SYSTEM_OBJECTS, type SystemEvent } from "../../domain/system-events.ts";
import type { Delivery } from "../../stores/ports/deliveries.ts";
import { type DocumentOwner, ownerOf, type Webhook } from "../../stores/ports/documents.ts";
import { systemCloudEvent } from "../events/cloud-event.ts";
import type { TellingContext } from "../webhooks/context.ts";
import { allListeners, type Listeners } from "../webhooks/listeners.ts";
import { SINCE_SLACK_MS } from "./tell-runs.ts";
import { deliveryIdOf, matchesType, neverTried } from "../webhooks/webhook-rules.ts";

const EVENTS_AT_ONCE = 100;
const TENANT = "tenant/";
const OBJECTS: ReadonlySet<string> = new Set(SYSTEM_OBJECTS);
/** What the delivery of a system event has in place of a run and a project. Those of one webhook are of one log. */
const [NO_RUN, NO_PROJECT] = [asId<RunId>(""), asId<ProjectId>("")];

/** Tells some of what is not told to webhooks of these owners. True when there may be more. */
export async function tellSystemEvents(
  context: TellingContext,
  known: Listeners,
  isOwned: (owner: DocumentOwner) => boolean,
): Promise<boolean> {
  const tenants = new Set(
    wantersOf(context, known).flatMap(({ owner }) =>
      owner.startsWith(TENANT) && isOwned(owner) ? [asId<TenantId>(owner.slice(TENANT.length))] : [],
    ),
  );
  let isMore = false;
  for (const tenantId of tenants) isMore = (await tellTenant(context, tenantId)) || isMore;
  return isMore;
}

async function tellTenant(context: TellingContext, tenantId: TenantId): Promise<boolean> {
  const { deliveries, documents, systemEvents } = context.stores;
  const owner = ownerOf({ tenantId });
  const [stored] = await documents.find("toldEvents", [owner]);
  const told = stored?.body.told ?? 0;
  const events = await systemEvents.read(tenantId, told, EVENTS_AT_ONCE);
  if (events.length === 0) return false;
  // Read after the events: a webhook that was there before an event is among them.
  const listeners = await allListeners(context);
  const wanters = wantersOf(context, listeners).filter((one) => one.owner === owner);
  const owed = events.flatMap((event) =>
    wanters.flatMap(({ webhook }) => deliveryOf(context, event, webhook, tenantId)),
  );
  if (owed.length > 0) await deliveries.tell(owed, []);
  const version = (stored?.version ?? 0) + 1;
  await documents.save({ kind: "toldEvents", owner, version, body: { told: events.at(-1)!.number } });
  return events.length === EVENTS_AT_ONCE;
}

/** A pattern names system events when its word for the object is one of theirs, so that `*` stands for events of runs alone. */
function namesSystemEvents({ eventNamespace }: TellingContext, pattern: string): boolean {
  return OBJECTS.has(pattern.split(".")[eventNamespace.split(".").length] ?? "");
}

function wantersOf(context: TellingContext, { webhooks }: Listeners): Listeners["webhooks"] {
  return webhooks.filter(
    ({ webhook }) => webhook.disabled === null && webhook.types.some((one) => namesSystemEvents(context, one)),
  );
}

function deliveryOf(
  context: TellingContext,
  event: SystemEvent,
  { webhookId, types, since }: Webhook,
  tenantId: TenantId,
): readonly Delivery[] {
  if (event.timeMs < since - SINCE_SLACK_MS) return [];
  const told = systemCloudEvent(event, context.eventNamespace);
  const { type } = told;
  if (!types.some((pattern) => namesSystemEvents(context, pattern) && matchesType(pattern, type))) return [];
  const { log, number } = event;
  const body = JSON.stringify({ ...told, data: { ...told.data, tenantId } });
  return [
    {
      deliveryId: deliveryIdOf(webhookId, log, String(number)),
      lane: webhookId,
      tenantId,
      projectId: NO_PROJECT,
      runId: NO_RUN,
      number,
      type,
      body,
      ...neverTried(context.clock.now()),
    },
  ];
}
