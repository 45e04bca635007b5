/**
 * The port of inbound hooks and of what they have received. A delivery is stored before its sender is answered, and owed from
 * then on until every trigger that it concerns has its verdict and its run. Times are Unix milliseconds.
 */
import type { DeliveryId, HookId, ProjectId } from "../../domain/ids.ts";
import type { EventFacts, HookHeaders, HookKind, HookProof, TriggerVerdict } from "../../hook-events/words.ts";
import type { ListKey } from "../ports/pages.ts";

export interface Hook {
  readonly hookId: HookId;
  readonly projectId: ProjectId;
  /** Unique in the project. */
  readonly name: string;
  readonly kind: HookKind;
  readonly proof: HookProof;
  /** Name of the project's secret; null with the proof `none`. */
  readonly secret: string | null;
  readonly enabled: boolean;
  /** Deliveries that it takes in a minute. */
  readonly perMinute: number;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly updatedAt: number;
  /** From 1; grows by one with each save. */
  readonly version: number;
}

/**
 * `arriving`: the body is not stored as a whole yet. `owed`: it is to be processed. `done`: each trigger has its verdict.
 * `failed`: it cannot be processed.
 */
export const RECEIVED_STATES = ["arriving", "owed", "done", "failed"] as const;
export type ReceivedState = (typeof RECEIVED_STATES)[number];

export interface ReceivedDelivery {
  /** Also the id of the blob of a large body. */
  readonly deliveryId: DeliveryId;
  readonly hookId: HookId;
  readonly projectId: ProjectId;
  /** The sender's id of the delivery, unique for the hook. */
  readonly senderId: string;
  /** The sender's word for the event. */
  readonly event: string;
  /** Without secrets. */
  readonly headers: HookHeaders;
  readonly bytes: number;
  /** Of the body, hexadecimal. */
  readonly sha256: string;
  readonly state: ReceivedState;
  readonly receivedAt: number;
  /** While it is owed, when it is processed next; else when it is removed. */
  readonly dueAt: number;
  /** Tries to process it that have failed since it was owed. */
  readonly failures: number;
  /** Why it failed, or why it waits; empty otherwise. */
  readonly error: string;
  /** What it says; empty until it was read, and for what starts nothing. */
  readonly events: readonly EventFacts[];
  /** Null until they are decided. */
  readonly verdicts: readonly TriggerVerdict[] | null;
  /** Verdicts with runs of an earlier processing, which stay as they are; empty unless it was asked for once more. */
  readonly earlier: readonly TriggerVerdict[];
  /** From 1; grows by one with each save. */
  readonly version: number;
}

export interface HookStore {
  /** A repeat of the id answers `created` and changes nothing. */
  create(hook: Hook): Promise<"created" | "nameTaken">;
  find(hookId: HookId): Promise<Hook | undefined>;
  /** Those of a project in the order of their creation. */
  list(projectId: ProjectId): Promise<readonly Hook[]>;
  /** Stores a hook whose stored version is the one before `hook.version`. */
  save(hook: Hook): Promise<"saved" | "moved" | "nameTaken">;
  /** False when there is none. */
  delete(hookId: HookId): Promise<boolean>;
  deleteOfProject(projectId: ProjectId): Promise<void>;

  /**
   * Stores a delivery unless the hook has one with its `senderId`; answers the stored one. `body`: null for one that is stored
   * as a blob.
   */
  take(delivery: ReceivedDelivery, body: string | null): Promise<ReceivedDelivery>;
  findDelivery(deliveryId: DeliveryId): Promise<ReceivedDelivery | undefined>;
  /** The body; null when it is a blob, and for an unknown delivery. */
  bodyOf(deliveryId: DeliveryId): Promise<string | null>;
  /** Stores a delivery whose stored version is the one before `delivery.version`. False, and nothing is stored, for another. */
  saveDelivery(delivery: ReceivedDelivery): Promise<boolean>;
  /** The hooks that have owed deliveries. */
  owing(): Promise<readonly HookId[]>;
  /** Owed deliveries of a hook that are due, the oldest first. */
  due(hookId: HookId, now: number, limit: number): Promise<readonly ReceivedDelivery[]>;
  /** The newest first, behind a place (`receivedAt`, `deliveryId`). */
  listDeliveries(
    hookId: HookId,
    filter: { readonly state?: ReceivedState | undefined },
    limit: number,
    after: ListKey | undefined,
  ): Promise<readonly ReceivedDelivery[]>;
  /** Deliveries that are not owed and whose time is over. */
  expired(now: number, limit: number): Promise<readonly ReceivedDelivery[]>;
  /** Deliveries of a hook or of a project in any state. */
  someDeliveries(
    of: { readonly hookId: HookId } | { readonly projectId: ProjectId },
    limit: number,
  ): Promise<readonly ReceivedDelivery[]>;
  removeDelivery(deliveryId: DeliveryId): Promise<void>;
}
