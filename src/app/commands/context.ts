import type { AppContext, WithStores } from "../context.ts";

export type CommandsContext = Pick<AppContext, "feed" | "mailboxes" | "clock" | "log" | "shards"> & WithStores<"aggregates" | "inbox" | "idempotency">;
