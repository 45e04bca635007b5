/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";

/** What reading approvals works with, and voting on them, which is a command to their run. */
export type ApprovalsContext = Pick<AppContext, "feed" | "mailboxes" | "clock" | "log" | "shards"> &
  WithStores<"aggregates" | "plans" | "inbox" | "idempotency" | "pipelines" | "rights" | "documents">;
