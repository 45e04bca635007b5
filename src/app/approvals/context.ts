import type { AppContext, WithStores } from "../context.ts";

export type ApprovalsContext = Pick<AppContext, "feed" | "mailboxes" | "clock" | "log" | "shards"> & WithStores<"aggregates" | "plans" | "inbox" | "idempotency">;
