import type { AppContext, WithStores } from "../context.ts";

export type TriggeringContext = Pick<AppContext, "feed" | "mailboxes" | "board" | "presence" | "clock" | "log" | "onRunBegun" | "shards"> & WithStores<"aggregates" | "plans" | "inbox" | "outputs" | "artifacts" | "blobs" | "plugins" | "pipelines" | "identity" | "secrets" | "idempotency" | "removeRun" | "removals">;
