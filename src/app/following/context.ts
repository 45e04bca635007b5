import type { AppContext, WithStores } from "../context.ts";

export type FollowingContext = Pick<AppContext, "feed" | "mailboxes" | "board" | "presence" | "clock" | "log"> & WithStores<"aggregates" | "plans" | "inbox" | "events" | "agentEvents" | "logs" | "outputs" | "artifacts" | "blobs" | "pipelines" | "identity" | "idempotency" | "removeRun" | "removals" | "retention">;
