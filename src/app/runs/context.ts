/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";

/** What the views of runs are read from. */
export type RunsContext = Pick<
  AppContext,
  "board" | "queue" | "presence" | "clock" | "log" | "largeReads" | "largePlans"
> &
  WithStores<
    | "aggregates"
    | "deployments"
    | "plans"
    | "events"
    | "outputs"
    | "notes"
    | "pipelines"
    | "rights"
    | "documents"
    | "idempotency"
    | "retention"
    | "deliveries"
  >;

/** What the removal of a run works with. */
export type RunRemovalContext = Pick<AppContext, "clock"> &
  WithStores<
    "inbox" | "artifacts" | "uploads" | "blobs" | "logs" | "pipelines" | "idempotency" | "removeRun" | "removals"
  >;
