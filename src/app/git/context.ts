/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";

/** What the use cases of definitions in Git work with. */
export type GitContext = Pick<
  AppContext,
  "clock" | "log" | "secrets" | "definitions" | "git" | "mailboxes" | "shards"
> &
  WithStores<
    | "aggregates"
    | "inbox"
    | "hooks"
    | "pipelines"
    | "rights"
    | "documents"
    | "plugins"
    | "snapshotBytes"
    | "idempotency"
    | "identity"
  >;
