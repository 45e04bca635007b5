/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";

/** What notifications are made and sent with. */
export type NotificationContext = Pick<
  AppContext,
  "clock" | "log" | "secrets" | "eventNamespace" | "publicUrl" | "meters" | "shards"
> &
  WithStores<
    "documents" | "identity" | "pipelines" | "rights" | "deliveries" | "events" | "aggregates" | "plans" | "outputs"
  >;
