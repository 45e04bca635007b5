import type { AppContext, WithStores } from "../context.ts";

export type UpkeepContext = Pick<AppContext, "feed" | "mailboxes" | "board" | "presence" | "clock" | "log" | "shards" | "signingKey"> & WithStores<"aggregates" | "plans" | "inbox" | "events" | "agentEvents" | "outputs" | "artifacts" | "blobs" | "deadLetters" | "pipelines" | "identity" | "idempotency" | "removeRun" | "removals" | "retention">;
