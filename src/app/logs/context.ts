/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";

/** What logs are read from. */
export type LogsContext = Pick<AppContext, "clock"> &
  WithStores<"aggregates" | "plans" | "logs" | "retention" | "pipelines" | "rights" | "documents">;
