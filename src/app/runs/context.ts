/** What runs use of the application context. */
import type { AppContext, WithStores } from "../context.ts";

/** What the views of runs work with, and the removal of a run. */
export type RunsContext = Pick<AppContext, "board" | "presence" | "clock" | "log"> &
  WithStores<"aggregates" | "plans" | "events" | "outputs" | "pipelines" | "idempotency" | "retention">;
