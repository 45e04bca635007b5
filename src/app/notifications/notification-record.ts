/** A notification as the body of a delivery holds it: everything that a try needs, except the values of secrets. */
import type { PipelineId, UserId } from "../../domain/ids.ts";
import type { NotificationChannel, NotificationMessage, NotificationReason } from "../../domain/plan.ts";
import { type Delivery, NOTIFICATION_LANES } from "../../stores/ports/deliveries.ts";
import type { Wait } from "./occasions.ts";

export interface NotificationRecord {
  readonly on: NotificationReason;
  readonly channel: NotificationChannel;
  /** The name of the job; null when it is about the run. */
  readonly job: string | null;
  readonly pipelineId: PipelineId;
  /** As {@link RenderedNotification} has them. */
  readonly message: NotificationMessage;
  readonly late: readonly string[];
  readonly secrets: readonly string[];
  readonly problem: string;
  /** What stands for the parts that the message does not have. */
  readonly subject: string;
  readonly text: string;
  /** The CloudEvent that a webhook sends unless the message has a body. */
  readonly event: object;
  /** The wait that must still last when the notification is sent first; null for all others. */
  readonly wait: LastingWait | null;
  /** The user who has chosen to be told; absent for an entry of `notify`. The address is looked up for each try. */
  readonly user?: ToldUser;
}

/** A user who is told, and why. */
export interface ToldUser {
  readonly userId: UserId;
  readonly name: string;
  /** When it happened, Unix milliseconds. */
  readonly at: number;
}

export interface LastingWait {
  readonly wait: Wait;
  /** Unix milliseconds. */
  readonly since: number;
  readonly longerThanMs: number;
}

/** Deliveries of notifications of one project to one address have such a lane. */
export function notificationLane(projectId: string, address: string): string {
  return `${NOTIFICATION_LANES}${projectId}/${address}`;
}

export function recordOf({ body }: Pick<Delivery, "body">): NotificationRecord {
  return JSON.parse(body) as NotificationRecord;
}
