/** Deliveries of a hook as those see them who look after it: listed, read, and asked for once more. */
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { VERDICT_OUTCOMES } from "../../hook-events/words.ts";
import type { DeliveryId, PipelineId, RunId } from "../../domain/ids.ts";
import { RECEIVED_STATES, type ReceivedDelivery } from "../../stores/hooks/hook-store.ts";
import { HOOKS_CHANNEL } from "../../feed/feed.ts";
import type { Caller } from "../identity/access.ts";
import { afterField, cursorOf } from "../lists.ts";
import { fields, id, listOf, mapOf, shape, time, wholeNumber } from "../shapes.ts";
import { rfc3339 } from "../times.ts";
import type { HookContext } from "./context.ts";
import { type OfHook, reachHook } from "./hooks.ts";
import { runsOf } from "./receive.ts";

/** Characters of a body that its view shows. */
const BODY_CHARS = 16_384;

export const hookDeliveriesQuery = z.strictObject({
  state: z.enum(RECEIVED_STATES).optional(),
  after: afterField.optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
});

const briefFields = () => ({
  deliveryId: id<DeliveryId>(),
  /** The sender's id of it. */
  senderId: z.string(),
  state: z.enum(RECEIVED_STATES),
  /** The sender's word for the event. */
  event: z.string(),
  /** What each of its events says: the word that triggers name, the action, and the ref. */
  events: listOf(
    fields(() => ({ event: z.string(), action: z.string(), ref: z.string(), sha: z.string(), actor: z.string() })),
  ),
  bytes: wholeNumber,
  receivedAt: time,
  /** Why it has failed, waits, or starts nothing; empty otherwise. */
  error: z.string(),
  /** When it is processed next; null when it is not owed. */
  nextTry: time.nullable(),
  runs: listOf(id<RunId>()),
});
const HookDeliveryBriefShape = shape("HookDeliveryInList", briefFields);
export const HookDeliveryPageShape = fields(() => ({
  list: listOf(HookDeliveryBriefShape),
  next: z.string().nullable(),
}));
export const HookDeliveryShape = shape("HookDelivery", () => ({
  ...briefFields(),
  /** Without secrets. */
  headers: mapOf(z.string()),
  /** The beginning of the body. */
  body: z.string(),
  /** Of each trigger for senders of this kind; null until they are decided. */
  verdicts: listOf(
    fields(() => ({
      pipelineId: id<PipelineId>(),
      pipeline: z.string(),
      /** Its name or number; empty for all triggers of the definition. */
      trigger: z.string(),
      /** Which of the events, from 0. */
      eventIndex: wholeNumber,
      outcome: z.enum(VERDICT_OUTCOMES),
      /** For people. */
      text: z.string(),
      runId: id<RunId>().nullable(),
    })),
  ).nullable(),
}));

type OfHookDelivery = OfHook & { readonly deliveryId: DeliveryId };

/** The newest first. Throws `not_found`. */
export async function listHookDeliveries(
  context: HookContext,
  caller: Caller,
  { after, limit, state, ...of }: OfHook & z.output<typeof hookDeliveriesQuery>,
): Promise<z.infer<typeof HookDeliveryPageShape>> {
  await reachHook(context, caller, of);
  const found = await context.stores.hooks.listDeliveries(of.hookId, { state }, limit + 1, after);
  const list = found.slice(0, limit);
  const last = found.length > limit ? list.at(-1) : undefined;
  return {
    list: list.map(briefView),
    next: last === undefined ? null : cursorOf({ at: last.receivedAt, id: last.deliveryId }),
  };
}

/** Throws `not_found`. */
export async function getHookDelivery(
  context: HookContext,
  caller: Caller,
  of: OfHookDelivery,
): Promise<z.infer<typeof HookDeliveryShape>> {
  await reachHook(context, caller, of);
  return deliveryView(context, await findDelivery(context, of));
}

/**
 * Processes an ended delivery once more. Runs that it has started stay; triggers for which it has started none are judged again.
 * Throws `not_found`, and `conflict` for one that is arriving or owed.
 */
export async function processHookDeliveryAgain(
  context: HookContext,
  caller: Caller,
  of: OfHookDelivery,
): Promise<z.infer<typeof HookDeliveryShape>> {
  const { user } = await reachHook(context, caller, of);
  const { stores, clock, feed } = context;
  const found = await findDelivery(context, of);
  const isEnded = found.state === "done" || found.state === "failed";
  const owed: ReceivedDelivery = {
    ...found,
    state: "owed",
    dueAt: clock.now(),
    failures: 0,
    error: "",
    earlier: (found.verdicts ?? found.earlier).filter(({ made }) => made),
    verdicts: null,
    version: found.version + 1,
  };
  const { deliveryId } = of;
  const change = { kind: "delivery", id: deliveryId, after: { type: found.event } } as const;
  if (!isEnded || !(await recorded(user, change, () => stores.hooks.saveDelivery(owed)))) {
    throw new MillraceError("conflict", "the delivery has not ended: it is processed once its time has come");
  }
  await feed.publish(HOOKS_CHANNEL, { hookId: of.hookId }).catch(() => undefined);
  return deliveryView(context, owed);
}

async function findDelivery(
  { stores }: HookContext,
  { hookId, deliveryId }: OfHookDelivery,
): Promise<ReceivedDelivery> {
  const found = await stores.hooks.findDelivery(deliveryId);
  if (found?.hookId === hookId) return found;
  throw new MillraceError("not_found", `the hook has no delivery ${JSON.stringify(deliveryId)}`);
}

function briefView(delivery: ReceivedDelivery): z.infer<typeof HookDeliveryBriefShape> {
  const { deliveryId, senderId, state, event, events, bytes, receivedAt, error, dueAt } = delivery;
  return {
    deliveryId,
    senderId,
    state,
    event,
    events: events.map(({ event: word, action, ref, sha, actor }) => ({ event: word, action, ref, sha, actor })),
    bytes,
    receivedAt: rfc3339(receivedAt),
    error,
    nextTry: state === "owed" ? rfc3339(dueAt) : null,
    runs: runsOf(delivery),
  };
}

async function deliveryView(
  { stores }: HookContext,
  delivery: ReceivedDelivery,
): Promise<z.infer<typeof HookDeliveryShape>> {
  const { deliveryId, headers, verdicts, bytes } = delivery;
  const kept = await stores.hooks.bodyOf(deliveryId);
  const length = Math.min(bytes, BODY_CHARS);
  const body = kept ?? Buffer.from(await stores.blobs.read(deliveryId, 0, length)).toString();
  return {
    ...briefView(delivery),
    headers: Object.fromEntries(headers),
    body: body.slice(0, BODY_CHARS),
    verdicts:
      verdicts === null
        ? null
        : verdicts.map(({ pipelineId, pipeline, trigger, eventIndex, outcome, text, runId, made }) => {
            return { pipelineId, pipeline, trigger, eventIndex, outcome, text, runId: made ? runId : null };
          }),
  };
}
