import type { AppContext, WithStores } from "../context.ts";

export type FollowingContext = Pick<AppContext, "feed" | "presence" | "clock" | "log"> & WithStores<"aggregates" | "logs" | "identity" | "idempotency" | "retention">;
