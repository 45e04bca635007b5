/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";

/** What the creation of a run works with: the plan is made, the first turn is taken and its effects are performed. */
export type TriggeringContext = Pick<
  AppContext,
  | "feed"
  | "mailboxes"
  | "board"
  | "presence"
  | "clock"
  | "log"
  | "begunRuns"
  | "shards"
  | "definitions"
  | "uploadRules"
  | "secrets"
  | "git"
> &
  WithStores<
    | "aggregates"
    | "plans"
    | "inbox"
    | "outputs"
    | "artifacts"
    | "uploads"
    | "blobs"
    | "logs"
    | "hooks"
    | "plugins"
    | "pipelines"
    | "rights"
    | "documents"
    | "pipelineDeletions"
    | "identity"
    | "secrets"
    | "snapshotBytes"
    | "idempotency"
    | "removeRun"
    | "removals"
  >;
