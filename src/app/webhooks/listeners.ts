/** Who wants to be told what happens: webhooks, and the projects whose runs may have notifications. */
import { asId, type ProjectId, type TenantId } from "../../domain/ids.ts";
import type { DocumentOwner, NotifiedMark, Webhook } from "../../stores/ports/documents.ts";
import { tenantOf } from "../../stores/ports/pipelines.ts";
import type { TellingContext } from "./context.ts";

export interface OwnedWebhook {
  readonly owner: DocumentOwner;
  readonly webhook: Webhook;
}

export interface Listeners {
  readonly webhooks: readonly OwnedWebhook[];
  /** The projects whose runs may have notifications. */
  readonly notified: ReadonlyMap<ProjectId, NotifiedMark>;
}

/**
 * A project is marked before its first run with notifications is stored, by a node whose clock may differ from that of the node
 * that ends the run: by up to a minute each, else they take no part.
 */
const MARK_SLACK_MS = 120_000;
const PROJECT = "project/";
const TENANT = "tenant/";

/** All of the installation. */
export async function allListeners({ stores }: TellingContext): Promise<Listeners> {
  const webhooks: OwnedWebhook[] = [];
  const notified = new Map<ProjectId, NotifiedMark>();
  for (const document of await stores.documents.all("webhooks", "notified")) {
    const { owner } = document;
    if (document.kind === "webhooks") webhooks.push(...document.body.webhooks.map((webhook) => ({ owner, webhook })));
    else notified.set(asId<ProjectId>(owner.slice(PROJECT.length)), document.body);
  }
  return { webhooks, notified };
}

export function hasListeners({ webhooks, notified }: Listeners): boolean {
  return webhooks.length > 0 || notified.size > 0;
}

/** From when on anybody wants to be told anything, Unix milliseconds. */
export function firstSince({ webhooks, notified }: Listeners): number {
  return Math.min(
    ...webhooks.map(({ webhook: { since } }) => since),
    ...[...notified.values()].map(({ since }) => since - MARK_SLACK_MS),
  );
}

/** The projects whose events a listener may want. */
export async function tellingProjects(
  { stores }: TellingContext,
  { webhooks, notified }: Listeners,
): Promise<readonly ProjectId[]> {
  const owners = new Set(webhooks.flatMap(({ owner, webhook }) => (webhook.disabled === null ? [owner] : [])));
  const named = (kind: string) =>
    [...owners].flatMap((owner) => (owner.startsWith(kind) ? owner.slice(kind.length) : []));
  const tenantIds = named(TENANT).map((id) => asId<TenantId>(id));
  const projectIds = [...notified.keys(), ...named(PROJECT).map((id) => asId<ProjectId>(id))];
  if (tenantIds.length === 0) return [...new Set(projectIds)];
  const ofTenants = await stores.pipelines.listProjects({ projectIds: [], tenantIds });
  // Those of the list are its tenant's; a tenant may be none of a project any more.
  const owned = ofTenants.filter((project) => tenantIds.includes(tenantOf(project)));
  return [...new Set([...projectIds, ...owned.map(({ projectId }) => projectId)])];
}
