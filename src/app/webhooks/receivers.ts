/** What deliveries are sent to: a lane of deliveries has one receiver. */
import type { NotificationChannel } from "../../domain/plan.ts";
import type { Delivery, DeliveryTry } from "../../stores/ports/deliveries.ts";

/** `gone`: the receiver says that it wants nothing more. */
type Outcome = "delivered" | "failed" | "gone";

export interface Sent {
  readonly outcome: Outcome;
  readonly tried: DeliveryTry;
  /** The receiver wants no other try before this time, Unix milliseconds; absent when it does not say. */
  readonly notBefore?: number;
}

/** The values of a label of the metrics: a webhook of a project or tenant, the channel of a notification, or a commit status. */
export type Channel = "webhook" | `notify-${NotificationChannel}` | "commit-status";

export interface Receiver {
  channelOf(delivery: Delivery): Channel;
  /** True: a delivery of a run is not sent before those with smaller numbers. */
  readonly ordered: boolean;
  /** True: of the deliveries of a lane, one is sent after the other, whichever run they are of. */
  readonly serial: boolean;
  /** Why nothing is sent to it now; null when it is. */
  readonly refusal: string | null;
  /**
   * Whether the delivery is sent, now that it is due; absent: always. `over`: there is nothing to tell any more, and the
   * delivery is forgotten. A time (Unix milliseconds): it is looked at again then.
   */
  readiness?(delivery: Delivery): Promise<"lasts" | "over" | number>;
  /** `signal` ends it; then it counts as not sent. */
  send(delivery: Delivery, signal: AbortSignal): Promise<Sent>;
  /** Hears of each outcome after it is stored; `lost`: the delivery has failed for good. */
  noted(outcome: Outcome | "lost"): Promise<void>;
  /** Hears that what became of a delivery was not stored, since another node has changed it meanwhile. */
  overtaken?(delivery: Delivery): Promise<void>;
}
