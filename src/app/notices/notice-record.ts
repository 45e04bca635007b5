/** A notice as the body of a delivery holds it: everything that a try needs, except the values of secrets. */
import type { PipelineId } from "../../domain/ids.ts";
import type { NoticeChannel, NoticeMessage, NoticeReason } from "../../domain/notices.ts";
import { type Delivery, NOTICE_LANES } from "../../stores/ports/deliveries.ts";
import type { Wait } from "./occasions.ts";

export interface NoticeRecord {
  readonly on: NoticeReason;
  readonly channel: NoticeChannel;
  /** The name of the job; null when it is about the run. */
  readonly job: string | null;
  readonly pipelineId: PipelineId;
  /** As {@link RenderedNotice} has them. */
  readonly message: NoticeMessage;
  readonly late: readonly string[];
  readonly secrets: readonly string[];
  readonly problem: string;
  /** What stands for the parts that the message does not have. */
  readonly subject: string;
  readonly text: string;
  /** The CloudEvent that a webhook sends unless the message has a body. */
  readonly event: object;
  /** The wait that must still last when the notice is sent first; null for all others. */
  readonly wait: LastingWait | null;
}

export interface LastingWait {
  readonly wait: Wait;
  /** Unix milliseconds. */
  readonly since: number;
  readonly longerThanMs: number;
}

/** Deliveries of notices of one project to one address have such a lane. */
export function noticeLane(projectId: string, address: string): string {
  return `${NOTICE_LANES}${projectId}/${address}`;
}

export function recordOf({ body }: Pick<Delivery, "body">): NoticeRecord {
  return JSON.parse(body) as NoticeRecord;
}
