/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";

/** What webhooks are kept and changed with. */
export type WebhookContext = Pick<AppContext, "clock" | "log" | "secrets" | "eventNamespace"> &
  WithStores<"documents" | "pipelines" | "rights" | "deliveries" | "idempotency">;

/** What events are told with. */
export type TellingContext = WebhookContext &
  Pick<AppContext, "shards" | "publicUrl" | "meters" | "feed" | "git"> &
  WithStores<"identity" | "events" | "aggregates" | "audit" | "plans" | "outputs" | "systemEvents">;
