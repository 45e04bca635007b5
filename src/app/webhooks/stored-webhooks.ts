/** Webhooks as they are stored: those of one tenant or one project are one document. */
import { MillraceError } from "../../domain/errors.ts";
import type { WebhookId } from "../../domain/ids.ts";
import type { Area } from "../../domain/roles.ts";
import {
  type DocumentOwner,
  type OwnedDocument,
  ownerOf,
  type SealedWebhook,
  type Webhook,
} from "../../stores/ports/documents.ts";
import type { AppContext, WithStores } from "../context.ts";

/** How often a change is tried again when others change the same webhooks at the same moment. */
const TRIES = 20;

type Documents = WithStores<"documents">;

/** Those of one owner, in the order of their creation. */
export async function loadWebhooks(context: Documents, area: Area): Promise<readonly Webhook[]> {
  return (await load(context, ownerOf(area))).body.webhooks;
}

/**
 * Stores what `by` makes of the webhooks of one owner. `by` may be called several times, and nothing is stored when it answers
 * the same list. Throws `unavailable` when others change them all the time.
 */
export async function changeWebhooks(
  context: Documents,
  owner: DocumentOwner,
  by: (webhooks: readonly Webhook[]) => readonly Webhook[],
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const before = await load(context, owner);
    const webhooks = by(before.body.webhooks);
    if (webhooks === before.body.webhooks) return;
    if (await context.stores.documents.save({ ...before, version: before.version + 1, body: { webhooks } })) return;
  }
  throw new MillraceError("unavailable", "others change these webhooks all the time: try again");
}

/** Changes one webhook, if it is there. `by` answers the same object when there is nothing to change. */
export function changeWebhook(
  context: Documents,
  owner: DocumentOwner,
  webhookId: WebhookId,
  by: (webhook: Webhook) => Webhook,
): Promise<void> {
  return changeWebhooks(context, owner, (webhooks) => {
    const found = webhooks.find((one) => one.webhookId === webhookId);
    const changed = found && by(found);
    if (changed === found || changed === undefined) return webhooks;
    return webhooks.map((one) => (one === found ? changed : one));
  });
}

export async function sealWebhook(
  { secrets }: Pick<AppContext, "secrets">,
  webhookId: WebhookId,
  content: SealedWebhook,
): Promise<Pick<Webhook, "keyId" | "sealed">> {
  return secrets.sealOwn(webhookId, JSON.stringify(content));
}

/** Rejects with an `UnreadableSecretError`. */
export async function openWebhook(
  { secrets }: Pick<AppContext, "secrets">,
  { webhookId, keyId, sealed }: Webhook,
): Promise<SealedWebhook> {
  return JSON.parse(await secrets.openOwn(webhookId, { keyId, sealed })) as SealedWebhook;
}

/** Without a document, one that no save has stored yet. */
async function load({ stores }: Documents, owner: DocumentOwner): Promise<OwnedDocument<"webhooks">> {
  const [found] = await stores.documents.find("webhooks", [owner]);
  return found ?? { kind: "webhooks", owner, version: 0, body: { webhooks: [] } };
}
