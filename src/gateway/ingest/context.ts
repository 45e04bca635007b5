/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../../app/context.ts";

/** What the uploads of agents work with: log lines, events, artifacts and cache entries. */
export type IngestContext = Pick<
  AppContext,
  | "feed"
  | "mailboxes"
  | "shards"
  | "clock"
  | "coldLogs"
  | "log"
  | "meters"
  | "eventNamespace"
  | "artifactRules"
  | "cacheRules"
> &
  WithStores<
    | "aggregates"
    | "plans"
    | "outputs"
    | "inbox"
    | "agentEvents"
    | "logs"
    | "notes"
    | "artifacts"
    | "caches"
    | "blobs"
    | "identity"
    | "systemEvents"
  >;
