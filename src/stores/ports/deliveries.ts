/**
 * The port of deliveries: what other systems have to be told, and what they answered. A delivery is owed from the moment
 * in which it is stored until it has succeeded or failed for good.
 *
 * Deliveries follow from the stored events of runs, and from system events. The store knows up to which number the events of a run have been told;
 * {@link DeliveryStore.tell} stores the deliveries of some events, and that they are told, so that no crash loses one.
 */
import type { DeliveryId, ProjectId, RunId, TenantId } from "../../domain/ids.ts";
import type { ListKey } from "./pages.ts";

/** `delivered` and `failed` are final, until someone asks for the delivery once more. */
export const DELIVERY_STATES = ["owed", "delivered", "failed"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One try, with the request and the answer as far as they are kept. Never secrets. */
export interface DeliveryTry {
  /** Unix milliseconds. */
  readonly at: number;
  readonly durationMs: number;
  /** The status of the answer; null without an answer. */
  readonly status: number | null;
  /** Why it failed; empty for a success. */
  readonly error: string;
  readonly request: { readonly url: string; readonly headers: Readonly<Record<string, string>> };
  /** The beginning of the body of the answer. */
  readonly answer: string;
}

/** What the lanes of notifications begin with. The indexes name it, too. */
export const NOTIFICATION_LANES = "notification/";
/** Above every lane of a notification: `0` is the character behind `/`. */
export const ABOVE_NOTIFICATION_LANES = "notification0";

/** What the lanes of commit statuses begin with: of all, of those of runs, and of those of jobs. The indexes name the first one. */
export const STATUS_LANES = "status/";
export const RUN_STATUS_LANES = "status/run/";
export const JOB_STATUS_LANES = "status/job/";

export interface Delivery {
  readonly deliveryId: DeliveryId;
  /** To whom: the id of a webhook, or another receiver. Deliveries of different lanes do not wait for each other. */
  readonly lane: string;
  readonly tenantId: TenantId;
  /** Empty for a system event, as `runId` is. */
  readonly projectId: ProjectId;
  readonly runId: RunId;
  /** The number of the event in its run or log. */
  readonly number: number;
  /** The type of the event. */
  readonly type: string;
  /** What is sent, the same in each try. */
  readonly body: string;
  readonly state: DeliveryState;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** When it was owed last: at first `createdAt`, then when someone asked for it once more. */
  readonly owedAt: number;
  /** While it is owed, when it is tried next; then, when its record is deleted. Unix milliseconds. */
  readonly dueAt: number;
  readonly attempts: number;
  /** Failed tries since `owedAt`. */
  readonly failures: number;
  /** The latest tries, the earliest first. */
  readonly tries: readonly DeliveryTry[];
}

/** What a try changes. */
export type DeliveryOutcome = Pick<Delivery, "state" | "dueAt" | "attempts" | "failures" | "tries">;

/** A run with events that are not told. */
export interface UntoldRun {
  readonly runId: RunId;
  readonly projectId: ProjectId;
  /** The number of the last event that is told. */
  readonly told: number;
  readonly eventNumber: number;
  /** True when all its events up to `eventNumber` are in the store, or are removed. */
  readonly settled: boolean;
  /** Unix milliseconds; null for a live run. */
  readonly endedAt: number | null;
}

export interface DeliveryStore {
  /** Runs of these projects whose stored events go further than what is told, at most `limit`. */
  untold(projectIds: readonly ProjectId[], limit: number): Promise<readonly UntoldRun[]>;
  /**
   * Stores the deliveries that are not there yet, and then that the events of these runs are told up to `told`, which never
   * falls. After a crash in between, the runs are still untold.
   */
  tell(deliveries: readonly Delivery[], runs: readonly Pick<UntoldRun, "runId" | "told">[]): Promise<void>;
  /** The lanes that have owed deliveries which are due. */
  lanes(now: number): Promise<readonly string[]>;
  /** Owed deliveries of a lane that are due, in the order of `dueAt`, then run and number. */
  due(lane: string, now: number, limit: number): Promise<readonly Delivery[]>;
  /** The owed delivery with the least number of a run in a lane. */
  firstOwed(lane: string, runId: RunId): Promise<Delivery | undefined>;
  /** Makes all owed deliveries of a run in a lane due at this time. */
  reschedule(lane: string, runId: RunId, dueAt: number): Promise<void>;
  /** Stores what a try has changed. False, and nothing is stored, when `attempts` or the state is not as in `before`. */
  record(before: Pick<Delivery, "deliveryId" | "attempts">, outcome: DeliveryOutcome): Promise<boolean>;
  /** Makes a delivery that is not owed owed once more, with a new count of failures. False when there is none. */
  owe(deliveryId: DeliveryId, now: number): Promise<boolean>;
  find(deliveryId: DeliveryId): Promise<Delivery | undefined>;
  /** The deliveries of a lane, the newest first (id as tie-break), behind a place. */
  list(
    lane: string,
    filter: { readonly state?: DeliveryState | undefined; readonly runId?: RunId | undefined },
    limit: number,
    after: ListKey | undefined,
  ): Promise<readonly Delivery[]>;
  /** Deletes records of deliveries that are not owed and whose time is over; answers how many. */
  prune(now: number, limit: number): Promise<number>;
  /** The deliveries of notifications of a run or of a project, in all their lanes, as {@link list} answers them. */
  listNotifications(
    of: { readonly runId: RunId } | { readonly projectId: ProjectId },
    filter: { readonly state?: DeliveryState | undefined },
    limit: number,
    after: ListKey | undefined,
  ): Promise<readonly Delivery[]>;
  /** The deliveries of a run in the lanes that begin with a text, as {@link list} answers them. The text ends in `/`. */
  listOfRun(
    runId: RunId,
    lanes: string,
    filter: { readonly state?: DeliveryState | undefined },
    limit: number,
    after: ListKey | undefined,
  ): Promise<readonly Delivery[]>;
  /** Deletes one delivery, or those of a lane or of a project, owed ones too; answers how many. */
  drop(
    of: { readonly deliveryId: DeliveryId } | { readonly lane: string } | { readonly projectId: ProjectId },
    limit: number,
  ): Promise<number>;
}
