/**
 * System events: what happened to an installation apart from its runs. Each tenant has one numbered log of them, and one
 * more log holds what belongs to no tenant.
 */
import type { TenantId } from "./ids.ts";

/** The log of what belongs to no tenant: users, plugins, settings and agents of the installation. */
export const INSTALLATION_LOG = "installation";
export type SystemLog = TenantId | typeof INSTALLATION_LOG;

/** The logs of a tenant have its id as their name. */
export function systemLogOf(tenantId: TenantId | null | undefined): SystemLog {
  return tenantId ?? INSTALLATION_LOG;
}

export const SYSTEM_OBJECTS = [
  "agent",
  "definition",
  "project",
  "tenant",
  "settings",
  "variable",
  "secret",
  "plugin",
  "webhook",
  "hook",
  "user",
  "serviceAccount",
  "team",
  "member",
  "token",
  "registrationToken",
  "session",
  "link",
  "installation",
] as const;
export type SystemObject = (typeof SYSTEM_OBJECTS)[number];

/** The last words of the types of system events. Agents choose other words for what they report about themselves. */
export const SYSTEM_LIFECYCLES = [
  "created",
  "updated",
  "deleted",
  "saved",
  "restored",
  "started",
  "ended",
  "registered",
  "bound",
  "draining",
  "undrained",
  "revoked",
  "online",
  "offline",
  "lost",
] as const;
export type SystemLifecycle = (typeof SYSTEM_LIFECYCLES)[number];

/** An event that is not numbered yet. */
export interface SystemEventDraft {
  readonly log: SystemLog;
  /** Unique in its log: a second draft with the id is the same event. */
  readonly eventId: string;
  readonly object: SystemObject;
  /** One of {@link SYSTEM_LIFECYCLES}, or a word of an agent. */
  readonly lifecycle: string;
  /** When it happened, Unix milliseconds. */
  readonly timeMs: number;
  /** `id` is the id of the object. Never secrets. */
  readonly data: { readonly id: string } & Readonly<Record<string, unknown>>;
}

export interface SystemEvent extends SystemEventDraft {
  /** From 1, without gaps, in the order in which the events were stored. */
  readonly number: number;
}
