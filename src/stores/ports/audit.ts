/**
 * The port of the audit log. Entries are only added, and removed by their age: no method changes one. Times are Unix
 * milliseconds.
 */
import type { AuditId, ProjectId, TenantId } from "../../domain/ids.ts";
import type { SystemEventDraft } from "../../domain/system-events.ts";
import type { ListKey } from "./pages.ts";

/** `done`: the change was made. `refused`: the caller may not make it, or a login failed. */
export const AUDIT_OUTCOMES = ["done", "refused"] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** `operator`: a person on the machine, without a token. `anonymous`: a caller who proved nothing, as at a login. */
export const AUDIT_ACTORS = ["user", "job", "agent", "registration", "operator", "anonymous"] as const;
/** Through which door the call came. `machine`: a command on the machine itself. */
export const AUDIT_DOORS = ["http", "grpc", "machine"] as const;

export type AuditValue = string | number | boolean | null | readonly string[];
export type AuditFields = Readonly<Record<string, AuditValue>>;

/** One change, or the refusal of one. All texts are of one line and bounded. */
export interface AuditEntry {
  readonly auditId: AuditId;
  readonly at: number;
  readonly outcome: AuditOutcome;
  /** The name of the operation, such as `createTenant`. */
  readonly operation: string;
  /** The name is that of the moment, so that it stays when the user is renamed or removed. */
  readonly actor: {
    readonly kind: (typeof AUDIT_ACTORS)[number];
    /** The id of the user or agent, or of the registration token; null where there is none. */
    readonly id: string | null;
    readonly name: string;
    /** The session or the personal token that proved the actor. */
    readonly proof: string | null;
  };
  /** The name of another user for whom the actor acted; null for none. */
  readonly onBehalfOf: string | null;
  /** Null for what belongs to the installation. */
  readonly tenantId: TenantId | null;
  readonly projectId: ProjectId | null;
  readonly object: { readonly kind: string; readonly id: string; readonly name: string | null } | null;
  readonly from: {
    readonly door: (typeof AUDIT_DOORS)[number];
    readonly address: string | null;
    readonly userAgent: string | null;
  };
  readonly requestId: string | null;
  /** Named fields that the change replaced or removed, and what they became; null where there is nothing to name. */
  readonly before: AuditFields | null;
  readonly after: AuditFields | null;
  /** Why it was refused; null for what was done. */
  readonly reason: string | null;
  /** How many further refusals of the same actor were left out since the one before. */
  readonly leftOut: number;
}

/** Whose entries: of the whole installation, of everything that a tenant owns, or of one tenant or project. */
export type AuditArea =
  | "installation"
  | "tenants"
  | { readonly tenantId: TenantId }
  | { readonly projectId: ProjectId };

export interface AuditFilter {
  readonly area: AuditArea;
  readonly projectId?: ProjectId | undefined;
  /** Id of the user, agent or token. */
  readonly actorId?: string | undefined;
  readonly operation?: string | undefined;
  readonly objectId?: string | undefined;
  readonly outcome?: AuditOutcome | undefined;
  /** The first time that counts. */
  readonly since?: number | undefined;
  /** The first time that no longer counts. */
  readonly until?: number | undefined;
}

export interface AuditPage {
  /** The page begins behind this entry. */
  readonly after?: ListKey | undefined;
  readonly limit: number;
  /** True for the newest first. */
  readonly descending: boolean;
}

export interface AuditStore {
  /**
   * A repeat of an id changes nothing. The system event that follows from the entry is in its log afterwards, or is owed
   * to it: {@link settleEvents}.
   */
  append(entry: AuditEntry, event?: SystemEventDraft | null): Promise<void>;
  /**
   * Calls `write`, whose first call of a store is a change. Where the engine can, the entry and its event are stored with
   * the rows that this change writes, in one transaction, and `stored` is true; else the entry is not stored yet, and the
   * caller appends it. Rejects as `write` does, and stores no entry then.
   */
  appendWith<T>(
    entry: AuditEntry,
    write: () => Promise<T>,
    event?: SystemEventDraft | null,
  ): Promise<{ readonly result: T; readonly stored: boolean }>;
  /** Puts up to `limit` events into their logs that a crash has left owed; answers how many. */
  settleEvents(limit: number): Promise<number>;
  /** In the order of time and id. */
  page(filter: AuditFilter, page: AuditPage): Promise<readonly AuditEntry[]>;
  /** Removes up to `limit` entries that are older than `before`; answers how many. */
  forget(before: number, limit: number): Promise<number>;
}
