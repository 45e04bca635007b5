/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";

/** What the first start, retention and the reconciler of groups work with; operators use {@link ClusterContext}. */
export type UpkeepContext = Pick<
  AppContext,
  "mailboxes" | "clock" | "coldLogs" | "log" | "shards" | "givenVariables" | "spans" | "publicUrl"
> &
  WithStores<
    | "aggregates"
    | "deployments"
    | "plans"
    | "logs"
    | "notes"
    | "statistics"
    | "testHistories"
    | "inbox"
    | "agentEvents"
    | "artifacts"
    | "uploads"
    | "blobs"
    | "shards"
    | "deadLetters"
    | "pipelines"
    | "pipelineDeletions"
    | "secrets"
    | "identity"
    | "rights"
    | "documents"
    | "logins"
    | "idempotency"
    | "removeRun"
    | "removals"
    | "retention"
    | "audit"
    | "systemEvents"
  >;
