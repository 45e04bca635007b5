/** Tells the nodes that follow a log of system events that it has grown. They read the store in any case, some seconds later. */
import type { SystemLog } from "../domain/system-events.ts";
import { type Feed, systemChannel } from "./feed.ts";
import type { Logger } from "../domain/logger.ts";

export function announceSystemEvent(
  { feed, log }: { readonly feed: Pick<Feed, "isFollowed" | "publish">; readonly log: Pick<Logger, "debug"> },
  systemLog: SystemLog,
): void {
  const channel = systemChannel(systemLog);
  if (!feed.isFollowed(channel)) return;
  feed.publish(channel, null).catch((error: unknown) => {
    log.debug({ systemLog, error: String(error) }, "who follows a log of system events finds the event a little later");
  });
}
