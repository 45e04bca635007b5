/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";

/** What the use cases of pipelines, definitions, plugins and secrets work with. */
export type CatalogueContext = Pick<
  AppContext,
  "mailboxes" | "clock" | "log" | "shards" | "secrets" | "signingKey" | "definitions" | "git"
> &
  WithStores<
    | "aggregates"
    | "inbox"
    | "hooks"
    | "blobs"
    | "plugins"
    | "pipelines"
    | "rights"
    | "documents"
    | "pipelineDeletions"
    | "secrets"
    | "snapshotBytes"
    | "idempotency"
    | "identity"
    | "runImages"
  >;
