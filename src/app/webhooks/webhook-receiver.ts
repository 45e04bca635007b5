/** A webhook as the receiver of deliveries: signs and sends a request, and disables a webhook that fails for long. */
import { Trail } from "../../audit/trail.ts";
import { signedHeaders, EARLIER_SECRET_MS, FAILING_MS } from "./webhook-rules.ts";
import type { OutgoingRequest, ReceivedAnswer, SendRequest } from "../../outgoing/requests.ts";
import type { Delivery } from "../../stores/ports/deliveries.ts";
import type { DocumentOwner, Webhook } from "../../stores/ports/documents.ts";
import { trailGround } from "../audit-ground.ts";
import { rfc3339 } from "../times.ts";
import type { TellingContext } from "./context.ts";
import type { Receiver, Sent } from "./receivers.ts";
import { secretsOfAddress, tryToSend } from "./sending.ts";
import { changeWebhook, openWebhook } from "./stored-webhooks.ts";
import type { OwnedWebhook } from "./listeners.ts";

/** Source: CloudEvents 1.0, HTTP protocol binding, structured mode. */
export const CLOUD_EVENT = "application/cloudevents+json; charset=utf-8";
export const USER_AGENT = "millrace";
const GONE = 410;

export function webhookReceiver(
  context: TellingContext,
  { owner, webhook }: OwnedWebhook,
  send: SendRequest,
): Receiver {
  return {
    channelOf: () => "webhook",
    ordered: webhook.ordered,
    serial: false,
    refusal: webhook.disabled === null ? null : "the webhook is disabled",
    send: (delivery, signal) => sendSigned(context, webhook, delivery, (request) => send(request, signal)),
    noted: (outcome) => noteOutcome(context, owner, webhook, outcome),
  };
}

function sendSigned(
  context: TellingContext,
  webhook: Webhook,
  delivery: Delivery,
  send: (request: OutgoingRequest) => Promise<ReceivedAnswer>,
): Promise<Sent> {
  const { address, earlierUntil: until } = webhook;
  return tryToSend(context, delivery, address, async (at) => {
    const { url, secret, earlier } = await openWebhook(context, webhook);
    const secrets = [secret, ...(until !== null && at < until && earlier !== null ? [earlier] : [])];
    const { deliveryId, body } = delivery;
    const headers = {
      "content-type": CLOUD_EVENT,
      "user-agent": USER_AGENT,
      ...signedHeaders(secrets, deliveryId, Math.floor(at / 1_000), body),
    };
    return {
      headers,
      secrets: [...secretsOfAddress(url), secret, earlier ?? ""],
      address,
      send: () => send({ url, headers, body }),
      isGone,
    };
  });
}

export function isGone(status: number): boolean {
  return status === GONE;
}

/**
 * Remembers since when all tries fail. The webhook is disabled when the receiver is gone, and when a delivery has failed for
 * good and every try has failed for {@link FAILING_MS}.
 */
async function noteOutcome(
  context: TellingContext,
  owner: DocumentOwner,
  { webhookId, failingSince }: Webhook,
  outcome: Parameters<Receiver["noted"]>[0],
): Promise<void> {
  const now = context.clock.now();
  if (outcome === "delivered" && failingSince === null) return;
  if (outcome === "failed" && failingSince !== null) return;
  let disabled: Webhook | undefined;
  await changeWebhook(context, owner, webhookId, (webhook) => {
    disabled = undefined;
    if (outcome === "delivered") return webhook.failingSince === null ? webhook : { ...webhook, failingSince: null };
    const since = webhook.failingSince ?? now;
    const failing = webhook.failingSince === null ? { ...webhook, failingSince: since } : webhook;
    const reason = reasonToDisable(outcome, since, now);
    if (webhook.disabled !== null || reason === undefined) return failing;
    disabled = { ...failing, disabled: { at: now, reason }, updatedAt: now };
    return disabled;
  });
  if (disabled !== undefined) await noteDisabled(context, owner, disabled);
}

function reasonToDisable(outcome: string, since: number, now: number): string | undefined {
  if (outcome === "gone") return "the receiver answers 410: it wants nothing more";
  return outcome === "lost" && now - since >= FAILING_MS ? `every try has failed since ${rfc3339(since)}` : undefined;
}

/** The notice: a line for operators, and an entry of the audit log for those who look after the owner. */
async function noteDisabled(context: TellingContext, owner: DocumentOwner, webhook: Webhook): Promise<void> {
  const { webhookId, disabled, address } = webhook;
  context.log.warn({ webhookId, owner, address, reason: disabled!.reason }, "a webhook was disabled");
  const trail = new Trail(trailGround(context), {
    operation: "disableWebhook",
    actor: { kind: "operator", id: null, name: "millrace", proof: null },
    from: { door: "machine", address: null, userAgent: null },
    requestId: null,
  });
  const [kind, id] = owner.split("/") as ["tenant" | "project", never];
  await trail.close({
    kind: "webhook",
    id: webhookId,
    area: kind === "tenant" ? { tenantId: id } : { projectId: id },
    before: { enabled: true },
    after: { enabled: false, reason: disabled!.reason },
  });
}

/** Until when an earlier secret counts that is replaced now. */
export function earlierUntil(now: number): number {
  return now + EARLIER_SECRET_MS;
}
