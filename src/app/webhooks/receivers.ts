/** What deliveries are sent to: a lane of deliveries has one receiver. */
import type { NotificationChannel } from "../../domain/plan.ts";
import type { Delivery, DeliveryTry } from "../../stores/ports/deliveries.ts";

/** `gone`: the receiver says that it wants nothing more. */
type Outcome = "delivered" | "failed" | "gone";

export interface Sent {
  readonly outcome: Outcome;
  readonly tried: DeliveryTry;
}

/** The values of a label of the metrics: a webhook of a project or tenant, or the channel of a notification. */
export type Channel = "webhook" | `notify-${NotificationChannel}`;

export interface Receiver {
  channelOf(delivery: Delivery): Channel;
  /** True: a delivery of a run is not sent before those with smaller numbers. */
  readonly ordered: boolean;
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
}
