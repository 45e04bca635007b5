/** The port of documents: small JSON values that the installation, a tenant, a project or an agent has, each as a whole. */
import type { AgentId, ProjectId, UserId, WebhookId } from "../../domain/ids.ts";
import type { ChosenReason, JobPermissions } from "../../domain/plan.ts";
import type { Bound } from "../../domain/retention.ts";
import type { LabelQuota } from "../../domain/quotas.ts";
import type { Area, Owner } from "../../domain/roles.ts";
import type { SystemEventDraft } from "../../domain/system-events.ts";
import type { Seal } from "./secrets.ts";

/** A text that expressions read beside the variables of the definition. */
export interface Variable {
  readonly name: string;
  readonly value: string;
  /** Unix milliseconds. */
  readonly updatedAt: number;
  /** Name of the user who gave it this value. */
  readonly updatedBy: string;
}

/** The variables of one tenant or one project, by their names. */
export interface VariableSet {
  readonly variables: readonly Variable[];
}

/** The values of the settings that change while the installation runs. */
export interface SettingValues {
  readonly "retention.runs": Bound;
  readonly "retention.logs": Bound;
  readonly "retention.artifacts": Bound;
  readonly "retention.events": Bound;
  readonly "log.lines": number;
  readonly "log.bytes": number;
  readonly "trust.secrets": boolean;
  readonly "trust.protectedTargets": boolean;
  /** Which runs of forks wait for an approval. */
  readonly "forks.approval": "always" | "firstTime" | "never";
  readonly "jobs.containers": boolean;
  readonly "jobs.idToken": boolean;
  readonly "jobs.api": JobPermissions["api"] & string;
  /** How many jobs may run at once; null for any number. */
  readonly "quota.perProject": number | null;
  readonly "quota.perTenant": number | null;
  /** How many jobs may run at once on the agents with a label. Of the installation. */
  readonly "quota.labels": readonly LabelQuota[];
  /** Calls in a minute; 0 for no limit. Of the installation. */
  readonly "calls.perToken": number;
  readonly "calls.perAddress": number;
}

/** An RSA key that verifies tokens, as in a JSON Web Key (RFC 7518). */
export interface PublicTokenKey {
  /** Names the key in the header of a token. */
  readonly kid: string;
  readonly kty: "RSA";
  readonly n: string;
  readonly e: string;
}

/** A key that signs identity tokens. The seal holds its private part. */
export interface TokenKey extends PublicTokenKey, Seal {
  /** Unix milliseconds. */
  readonly createdAt: number;
}

export interface TokenKeySet {
  /** The oldest first. */
  readonly keys: readonly TokenKey[];
}

/** A receiver of events, by webhook. The seal holds its address and its secrets. */
export interface Webhook extends Seal {
  readonly webhookId: WebhookId;
  readonly description: string;
  /** The address without what may be a secret: user, password, query and fragment. */
  readonly address: string;
  /** Patterns of event types; an event is told when one of them matches. */
  readonly types: readonly string[];
  /** True: an event of a run is not sent before those with smaller numbers. */
  readonly ordered: boolean;
  /** Null while events are told. */
  readonly disabled: { readonly at: number; readonly reason: string } | null;
  /** Events from this time on are told. This time and all others are in Unix milliseconds. */
  readonly since: number;
  /** When the first try failed since the last one that succeeded; null when the last one succeeded. */
  readonly failingSince: number | null;
  /** Until when requests carry the signature of the earlier secret too; null for none. */
  readonly earlierUntil: number | null;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly updatedAt: number;
}

/** What the seal of a webhook holds, as JSON. */
export interface SealedWebhook {
  readonly url: string;
  readonly secret: string;
  readonly earlier: string | null;
}

export interface WebhookSet {
  readonly webhooks: readonly Webhook[];
}

/** Whose presence says that runs of the project may have notifications. */
export interface NotifiedMark {
  /** When the first of them was asked for, Unix milliseconds. */
  readonly since: number;
  /** Users who may have chosen to be told of runs of the project; absent for none. Their choices decide. */
  readonly users?: readonly UserId[];
}

/** What one user wants to be told of the runs of one project. */
export interface NotificationChoice {
  readonly projectId: ProjectId;
  /** `since`: from when on it is told, Unix milliseconds. */
  readonly on: readonly { readonly reason: ChosenReason; readonly since: number }[];
  /** `mine`: only of runs that the user has triggered. */
  readonly runs: "mine" | "all";
  /** How long a wait has to last before it is told; null without `waiting`. */
  readonly longerThanMs: number | null;
}

/** How far the log of system events of a tenant is told to its webhooks. */
export interface ToldEvents {
  /** Number of the last event that is told. */
  readonly told: number;
}

/** What was told of the presence of an agent last. */
export interface ToldPresence {
  readonly presence: "online" | "offline" | "lost";
  /** How often something was told. */
  readonly count: number;
  /** The event, until it is in its log. */
  readonly owed: SystemEventDraft | null;
}

/** The content of a document, by its kind. */
export interface DocumentBodies {
  variables: VariableSet;
  settings: { readonly values: Partial<SettingValues> };
  /** Of the installation. */
  tokenKeys: TokenKeySet;
  /** Of a tenant or a project. */
  webhooks: WebhookSet;
  /** Of a project. */
  notified: NotifiedMark;
  /** Of a user. */
  notificationChoices: { readonly choices: readonly NotificationChoice[] };
  /** Of a tenant. */
  toldEvents: ToldEvents;
  /** Of an agent. */
  presence: ToldPresence;
}
export type DocumentKind = keyof DocumentBodies;
export const DOCUMENT_KINDS = [
  "variables",
  "settings",
  "tokenKeys",
  "webhooks",
  "notified",
  "notificationChoices",
  "toldEvents",
  "presence",
] as const satisfies readonly DocumentKind[];

/** Whose document it is. */
export type DocumentOwner = Owner;
export type AgentOwner = `agent/${AgentId}`;
export type UserOwner = `user/${UserId}`;
/** Whose the documents of a kind are. */
export type OwnerOf<K extends DocumentKind> = K extends "presence"
  ? AgentOwner
  : K extends "notificationChoices"
    ? UserOwner
    : DocumentOwner;

/** An owner has at most one document of each kind. */
export interface DocumentKey<K extends DocumentKind = DocumentKind> {
  readonly kind: K;
  readonly owner: OwnerOf<K>;
}

export interface OwnedDocument<K extends DocumentKind = DocumentKind> extends DocumentKey<K> {
  /** From 1; grows by one with each save. */
  readonly version: number;
  readonly body: DocumentBodies[K];
}

/** A document of one of several kinds. */
export type DocumentOf<K extends DocumentKind> = { [One in K]: OwnedDocument<One> }[K];

export interface DocumentStore {
  /** All documents of these kinds, in no particular order. */
  all<K extends DocumentKind>(...kinds: readonly K[]): Promise<readonly DocumentOf<K>[]>;
  /** The documents of one kind that these owners have, in no particular order. */
  find<K extends DocumentKind>(kind: K, owners: readonly OwnerOf<K>[]): Promise<readonly OwnedDocument<K>[]>;
  /**
   * Stores a document whose stored version is the one before `document.version`; with version 1, one that is not there
   * yet. False, and nothing is stored, when another version is there.
   */
  save<K extends DocumentKind>(document: OwnedDocument<K>): Promise<boolean>;
  /** Removes all documents of the owner. */
  deleteOf(owner: DocumentOwner | AgentOwner | UserOwner): Promise<void>;
}

export function ownerOf(area: Area): DocumentOwner {
  return "tenantId" in area ? `tenant/${area.tenantId}` : `project/${area.projectId}`;
}
