/** A webhook as the receiver of deliveries: signs and sends a request, and disables a webhook that fails for long. */
import { Trail } from "../../audit/trail.ts";
import { signedHeaders, EARLIER_SECRET_MS, FAILING_MS } from "./webhook-rules.ts";
import {
  NoAnswerError,
  type OutgoingRequest,
  type ReceivedAnswer,
  type SendRequest,
  shownAddress,
} from "../../outgoing/requests.ts";
import type { Delivery, DeliveryTry } from "../../stores/ports/deliveries.ts";
import type { DocumentOwner, SealedWebhook, Webhook } from "../../stores/ports/documents.ts";
import { trailGround } from "../audit-ground.ts";
import { rfc3339 } from "../times.ts";
import type { TellingContext } from "./context.ts";
import type { Receiver, Sent } from "./receivers.ts";
import { changeWebhook, openWebhook } from "./stored-webhooks.ts";
import type { OwnedWebhook } from "./tell-runs.ts";

/** Source: CloudEvents 1.0, HTTP protocol binding, structured mode. */
const CONTENT_TYPE = "application/cloudevents+json; charset=utf-8";
const USER_AGENT = "millrace";
/** Characters of the answer's body that a try keeps. */
const ANSWER_CHARS = 2_000;
const GONE = 410;

export function webhookReceiver(
  context: TellingContext,
  { owner, webhook }: OwnedWebhook,
  send: SendRequest,
): Receiver {
  return {
    ordered: webhook.ordered,
    refusal: webhook.disabled === null ? null : "the webhook is disabled",
    send: (delivery, signal) => sendSigned(context, webhook, delivery, (request) => send(request, signal)),
    noted: (outcome) => noteOutcome(context, owner, webhook, outcome),
  };
}

async function sendSigned(
  context: TellingContext,
  webhook: Webhook,
  { deliveryId, body }: Delivery,
  send: (request: OutgoingRequest) => Promise<ReceivedAnswer>,
): Promise<Sent> {
  const { clock } = context;
  const at = clock.now();
  const began = clock.monotonic();
  let sealed: SealedWebhook | undefined;
  let headers: Readonly<Record<string, string>> = {};
  const triedWith = (status: number | null, error: string, answer: string): DeliveryTry => ({
    at,
    durationMs: Math.round(clock.monotonic() - began),
    status,
    error,
    request: { url: webhook.address, headers: withoutSignature(headers) },
    answer: withoutSecrets(answer.slice(0, ANSWER_CHARS), sealed),
  });
  try {
    sealed = await openWebhook(context, webhook);
    const isEarlierValid = webhook.earlierUntil !== null && at < webhook.earlierUntil;
    const secrets = [sealed.secret, ...(isEarlierValid && sealed.earlier !== null ? [sealed.earlier] : [])];
    headers = {
      "content-type": CONTENT_TYPE,
      "user-agent": USER_AGENT,
      ...signedHeaders(secrets, deliveryId, Math.floor(at / 1_000), body),
    };
    const answer = await send({ url: sealed.url, headers, body });
    const error = problemOf(answer);
    const outcome = error === "" ? "delivered" : answer.status === GONE ? "gone" : "failed";
    return { outcome, tried: triedWith(answer.status, error, answer.text) };
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    if (!(error instanceof NoAnswerError))
      context.log.warn({ deliveryId, error: words }, "a delivery could not be sent");
    return { outcome: "failed", tried: triedWith(null, withoutSecrets(words, sealed), "") };
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

/** A receiver may answer with what it was sent, and an error may name what could not be read. */
function withoutSecrets(text: string, sealed: SealedWebhook | undefined): string {
  if (sealed === undefined) return text;
  let shown = text;
  for (const secret of secretsIn(sealed)) shown = shown.replaceAll(secret, "***");
  return shown;
}

function secretsIn({ url, secret, earlier }: SealedWebhook): readonly string[] {
  const parts = [url, secret, earlier ?? ""];
  if (URL.canParse(url)) {
    const { password, search, searchParams } = new URL(url);
    parts.push(decodeURIComponent(password), search.slice(1), ...searchParams.values());
  }
  // The address itself is shown when nothing of it is hidden. A short text is no secret, and is in every answer.
  return parts.filter((part) => part.length >= 6 && part !== shownAddress(url)).toSorted((a, b) => b.length - a.length);
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
