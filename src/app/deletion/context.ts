/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";

/** What the deletion of projects and tenants works with. */
export type DeletionContext = Pick<AppContext, "feed" | "mailboxes" | "presence" | "clock" | "log" | "shards"> &
  WithStores<
    | "aggregates"
    | "inbox"
    | "artifacts"
    | "caches"
    | "uploads"
    | "blobs"
    | "logs"
    | "pipelines"
    | "plugins"
    | "pipelineDeletions"
    | "secrets"
    | "identity"
    | "rights"
    | "documents"
    | "deliveries"
    | "hooks"
    | "idempotency"
    | "removeRun"
    | "removals"
    | "systemEvents"
  >;
