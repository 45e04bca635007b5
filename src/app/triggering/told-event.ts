/** What came with the event that has started a run: read from the delivery, which is kept as long as the run. */
import { type Body, at } from "../../hook-events/fields.ts";
import { payloadOf } from "../../hook-events/read-events.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { EventFacts } from "../../hook-events/words.ts";
import type { TriggerContext } from "../../planner/plan-contexts.ts";
import type { RunOrigin } from "../../stores/ports/aggregates.ts";
import type { ReceivedDelivery } from "../../stores/hooks/hook-store.ts";
import type { WithStores } from "../context.ts";

export type ToldEvent = Required<Pick<TriggerContext, "payload" | "fields">>;

type DeliveryContext = WithStores<"hooks" | "blobs">;

/** Undefined for a run that no event has started. Throws `conflict` when the delivery is gone. */
export async function toldEventOf(
  context: DeliveryContext,
  { trigger: { event } }: Pick<RunOrigin, "trigger">,
): Promise<ToldEvent | undefined> {
  if (event === undefined) return undefined;
  const delivery = await context.stores.hooks.findDelivery(event.deliveryId);
  const facts = delivery?.events[event.index];
  const body = delivery && (await bodyOfDelivery(context, delivery));
  if (delivery === undefined || facts === undefined || body === undefined) {
    throw new MillraceError(
      "conflict",
      `the delivery ${event.deliveryId}, which has started the run, is gone: trigger a new run`,
    );
  }
  return toldOf(delivery, facts, body);
}

/** What expressions read of an event of a delivery. */
export function toldOf({ bytes }: Pick<ReceivedDelivery, "bytes">, facts: EventFacts, body: Body): ToldEvent {
  const { ref: _, ...fields } = facts;
  return {
    payload: payloadOf(body, bytes, facts) as ToldEvent["payload"],
    fields: { actorId: "", authorId: "", ...fields, labels: [...facts.labels] },
  };
}

/** The body of a delivery; undefined when it is no JSON object. */
export async function bodyOfDelivery(
  { stores }: DeliveryContext,
  { deliveryId, bytes }: Pick<ReceivedDelivery, "deliveryId" | "bytes">,
): Promise<Body | undefined> {
  const kept = await stores.hooks.bodyOf(deliveryId);
  const text = kept ?? (await readBlob(stores.blobs, deliveryId, bytes));
  try {
    const body: unknown = JSON.parse(text);
    return at(body) instanceof Object && !Array.isArray(body) ? (body as Body) : undefined;
  } catch {
    return undefined;
  }
}

async function readBlob(blobs: DeliveryContext["stores"]["blobs"], blobId: string, bytes: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (let offset = 0; offset < bytes;) {
    const piece = await blobs.read(blobId, offset, bytes - offset);
    if (piece.length === 0) break;
    pieces.push(piece);
    offset += piece.length;
  }
  return Buffer.concat(pieces).toString();
}
