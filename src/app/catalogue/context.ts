import type { AppContext, WithStores } from "../context.ts";

export type CatalogueContext = Pick<AppContext, "mailboxes" | "clock" | "log" | "shards" | "secrets"> & WithStores<"aggregates" | "inbox" | "blobs" | "plugins" | "pipelines" | "secrets" | "idempotency">;
