/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";

/** What following works with: the store is the truth, and the feed says sooner what is new. */
export type FollowingContext = Pick<AppContext, "feed" | "presence" | "clock" | "log"> &
  WithStores<
    "aggregates" | "events" | "logs" | "identity" | "idempotency" | "retention" | "pipelines" | "rights" | "documents"
  >;
