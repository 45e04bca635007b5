/** Webhooks of tenants and projects: made, read, changed and deleted. The secret is answered when it is made, and never again. */
import { randomBytes } from "node:crypto";
import { z } from "zod";
import { recorded } from "../../audit/trail.ts";
import { MillraceError } from "../../domain/errors.ts";
import { newId, type WebhookId } from "../../domain/ids.ts";
import type { Area } from "../../domain/roles.ts";
import { patternProblem, secretOf } from "./webhook-rules.ts";
import { shownAddress } from "../../outgoing/requests.ts";
import { ownerOf, type Webhook } from "../../stores/ports/documents.ts";
import { givenName } from "../given-names.ts";
import type { ActingUser, Caller } from "../identity/access.ts";
import type { WithPrecondition } from "../preconditions.ts";
import { reachProject, reachTenant } from "../reaching.ts";
import { createOnce, type WithRequestId } from "../request-ids.ts";
import { fields, id, listOf, shape, time } from "../shapes.ts";
import { rfc3339 } from "../times.ts";
import type { WebhookContext } from "./context.ts";
import { changeWebhook, changeWebhooks, loadWebhooks, openWebhook, sealWebhook } from "./stored-webhooks.ts";
import { earlierUntil } from "./webhook-receiver.ts";

const MAX_WEBHOOKS = 20;
const MAX_URL_CHARS = 2_000;
const SECRET_BYTES = 24;

const url = z
  .string()
  .max(MAX_URL_CHARS)
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), "must be an http or https address");
const types = z
  .array(
    z
      .string()
      .max(200)
      .superRefine((pattern, check) => {
        const problem = patternProblem(pattern);
        if (problem !== undefined) check.addIssue(problem);
      }),
  )
  .min(1)
  .max(20);
const description = givenName(200);

export const createWebhookBody = z.strictObject({
  url,
  types: types.default(["*"]),
  ordered: z.boolean().default(false),
  description: description.optional(),
});
export const changeWebhookBody = z
  .strictObject({
    url: url.optional(),
    types: types.optional(),
    ordered: z.boolean().optional(),
    description: description.optional(),
    enabled: z.boolean().optional(),
  })
  .refine((body) => Object.keys(body).length > 0, "must name at least one field");

const shownFields = () => ({
  webhookId: id<WebhookId>(),
  description: z.string(),
  /** Without user, password, query and fragment. */
  address: z.string(),
  types: listOf(z.string()),
  ordered: z.boolean(),
  enabled: z.boolean(),
  /** Why and since when it is disabled; null while it is enabled. */
  disabled: fields(() => ({ at: time, reason: z.string() })).nullable(),
  /** Since when every try has failed; null when the last one succeeded. */
  failingSince: time.nullable(),
  /** Until when the earlier secret counts too; null for none. */
  earlierSecretUntil: time.nullable(),
  createdAt: time,
  createdBy: z.string(),
  updatedAt: time,
});
export const WebhookShape = shape("Webhook", shownFields);
export const WebhookWithSecretShape = shape("WebhookWithSecret", () => ({ ...shownFields(), secret: z.string() }));

export type WebhookView = z.infer<typeof WebhookShape>;
type WebhookWithSecretView = z.infer<typeof WebhookWithSecretShape>;

export interface OfWebhook {
  readonly area: Area;
  readonly webhookId: WebhookId;
}

/** A change of a webhook, which may demand what the webhook is before it. */
type Change = OfWebhook & WithPrecondition<WebhookView>;

/** In the order of their creation. Throws `not_found` for an unknown owner. */
export async function listWebhooks(
  context: WebhookContext,
  caller: Caller,
  { area }: { readonly area: Area },
): Promise<{ readonly list: readonly WebhookView[]; readonly total: number }> {
  await reachWebhooks(context, caller, area);
  const list = (await loadWebhooks(context, area)).map(webhookView);
  return { list, total: list.length };
}

/** Throws `not_found`. */
export async function getWebhook(context: WebhookContext, caller: Caller, of: OfWebhook): Promise<WebhookView> {
  return webhookView((await reachWebhook(context, caller, of)).found);
}

/** Throws `not_found` for an unknown owner, and `conflict` when it has as many webhooks as it may have. */
export async function createWebhook(
  context: WebhookContext,
  caller: Caller,
  { area, requestId, ...body }: { readonly area: Area } & WithRequestId & z.output<typeof createWebhookBody>,
): Promise<WebhookWithSecretView> {
  const user = await reachWebhooks(context, caller, area);
  return createOnce<WebhookId, WebhookWithSecretView>(context, {
    caller: user,
    scope: `webhook/${ownerOf(area)}`,
    requestId,
    body,
    freshId: () => newId("whk"),
    async find(webhookId) {
      const found = (await loadWebhooks(context, area)).find((one) => one.webhookId === webhookId);
      return found && { ...webhookView(found), secret: (await openWebhook(context, found)).secret };
    },
    async create(webhookId) {
      const now = context.clock.now();
      const secret = secretOf(randomBytes(SECRET_BYTES));
      const webhook: Webhook = {
        webhookId,
        description: body.description ?? "",
        address: shownAddress(body.url),
        types: body.types,
        ordered: body.ordered,
        disabled: null,
        since: now,
        failingSince: null,
        earlierUntil: null,
        createdAt: now,
        createdBy: user.name,
        updatedAt: now,
        ...(await sealWebhook(context, webhookId, { url: body.url, secret, earlier: null })),
      };
      const change = { kind: "webhook", id: webhookId, area, after: webhookView(webhook) } as const;
      const added = (webhooks: readonly Webhook[]): readonly Webhook[] => {
        if (webhooks.length < MAX_WEBHOOKS) return [...webhooks, webhook];
        throw new MillraceError("conflict", `there may be ${MAX_WEBHOOKS} webhooks here: delete one first`);
      };
      await changeWebhooks(context, ownerOf(area), added, (save) => recorded(user, change, save));
      context.log.info({ ...area, webhookId, by: user.name, userId: user.userId }, "a webhook was created");
      return { ...webhookView(webhook), secret };
    },
  });
}

/** Changes the fields that are given. From when it is enabled, it is told what happens from then on. Throws `not_found`. */
export async function changeWebhookOf(
  context: WebhookContext,
  caller: Caller,
  { area, webhookId, match, ...body }: Change & z.output<typeof changeWebhookBody>,
): Promise<WebhookView> {
  const { user, found } = await reachWebhook(context, caller, { area, webhookId });
  const now = context.clock.now();
  const reseal = body.url === undefined ? undefined : await openWebhook(context, found);
  const resealed = reseal && (await sealWebhook(context, webhookId, { ...reseal, url: body.url! }));
  const by = (webhook: Webhook): Webhook => ({
    ...webhook,
    ...(resealed && { ...resealed, address: shownAddress(body.url!) }),
    ...(body.types && { types: body.types }),
    ...(body.ordered !== undefined && { ordered: body.ordered }),
    ...(body.description !== undefined && { description: body.description }),
    ...(body.enabled === true && webhook.disabled !== null && { disabled: null, since: now, failingSince: null }),
    ...(body.enabled === false && webhook.disabled === null && { disabled: { at: now, reason: `by ${user.name}` } }),
    updatedAt: now,
  });
  const after = webhookView(by(found));
  const change = { kind: "webhook", id: webhookId, area, before: webhookView(found), after } as const;
  const record = (save: () => Promise<boolean>) => recorded(user, change, save);
  await changeWebhook(context, ownerOf(area), webhookId, matched(match, by), record);
  context.log.info({ ...area, webhookId, by: user.name, userId: user.userId }, "a webhook was changed");
  return after;
}

/** Gives the webhook a new secret. For a day, requests carry the signature of the earlier one too. Throws `not_found`. */
export async function rotateWebhookSecret(
  context: WebhookContext,
  caller: Caller,
  { area, webhookId, match }: Change,
): Promise<WebhookWithSecretView> {
  const { user, found } = await reachWebhook(context, caller, { area, webhookId });
  const now = context.clock.now();
  const { url: address, secret: earlier } = await openWebhook(context, found);
  const secret = secretOf(randomBytes(SECRET_BYTES));
  const seal = await sealWebhook(context, webhookId, { url: address, secret, earlier });
  const by = (webhook: Webhook): Webhook => ({ ...webhook, ...seal, earlierUntil: earlierUntil(now), updatedAt: now });
  const change = { kind: "webhook", id: webhookId, area, after: {} } as const;
  const record = (save: () => Promise<boolean>) => recorded(user, change, save);
  await changeWebhook(context, ownerOf(area), webhookId, matched(match, by), record);
  context.log.info({ ...area, webhookId, by: user.name, userId: user.userId }, "a webhook got a new secret");
  return { ...webhookView(by(found)), secret };
}

/** What is owed to it is not sent any more. Throws `not_found`. */
export async function deleteWebhook(
  context: WebhookContext,
  caller: Caller,
  { area, webhookId, match }: Change,
): Promise<void> {
  const { user, found } = await reachWebhook(context, caller, { area, webhookId });
  const change = { kind: "webhook", id: webhookId, area, before: webhookView(found) } as const;
  const without = (webhooks: readonly Webhook[]): readonly Webhook[] => {
    const stored = webhooks.find((one) => one.webhookId === webhookId);
    if (stored === undefined) return webhooks;
    match?.(webhookView(stored));
    return webhooks.filter((one) => one !== stored);
  };
  await changeWebhooks(context, ownerOf(area), without, (save) => recorded(user, change, save));
  context.log.info({ ...area, webhookId, by: user.name, userId: user.userId }, "a webhook was deleted");
}

/** A webhook, and the caller who may read and change it. Throws `not_found`. */
export async function reachWebhook(
  context: WebhookContext,
  caller: Caller,
  { area, webhookId }: OfWebhook,
): Promise<{ readonly user: ActingUser; readonly found: Webhook }> {
  const user = await reachWebhooks(context, caller, area);
  const found = (await loadWebhooks(context, area)).find((one) => one.webhookId === webhookId);
  if (found === undefined)
    throw new MillraceError("not_found", `there is no webhook ${JSON.stringify(webhookId)} here`);
  return { user, found };
}

async function reachWebhooks(context: WebhookContext, caller: Caller, area: Area): Promise<ActingUser> {
  const { user } =
    "tenantId" in area
      ? await reachTenant(context, caller, "manageTenantWebhooks", area.tenantId)
      : await reachProject(context, caller, "manageWebhooks", area.projectId);
  return user;
}

/** Compares the webhook as it is stored at the moment of the change. */
function matched(match: Change["match"], by: (webhook: Webhook) => Webhook): (webhook: Webhook) => Webhook {
  return (webhook) => {
    match?.(webhookView(webhook));
    return by(webhook);
  };
}

function webhookView(webhook: Webhook): WebhookView {
  const { webhookId, description: text, address, types: patterns, ordered, createdBy } = webhook;
  const timeOf = (at: number | null) => (at === null ? null : rfc3339(at));
  return {
    webhookId,
    description: text,
    address,
    types: patterns,
    ordered,
    enabled: webhook.disabled === null,
    disabled: webhook.disabled && { at: rfc3339(webhook.disabled.at), reason: webhook.disabled.reason },
    failingSince: timeOf(webhook.failingSince),
    earlierSecretUntil: timeOf(webhook.earlierUntil),
    createdAt: rfc3339(webhook.createdAt),
    createdBy,
    updatedAt: rfc3339(webhook.updatedAt),
  };
}
