/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";

/** What it takes to store a command to a live run and to wait for its verdict. */
export type CommandsContext = Pick<AppContext, "feed" | "mailboxes" | "clock" | "log" | "shards"> &
  WithStores<"aggregates" | "inbox" | "idempotency" | "pipelines" | "rights" | "documents">;
