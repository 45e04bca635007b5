import type { AppContext, WithStores } from "../context.ts";

export type UpkeepContext = Pick<AppContext, "clock" | "log" | "shards"> & WithStores<"aggregates" | "inbox" | "agentEvents" | "artifacts" | "blobs" | "deadLetters" | "pipelines" | "identity" | "idempotency" | "removeRun" | "removals" | "retention">;
