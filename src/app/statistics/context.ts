/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";

/** What statistics are counted with and read from. */
export type StatisticsContext = Pick<AppContext, "clock" | "spans" | "publicUrl" | "endedRuns"> &
  WithStores<"aggregates" | "plans" | "notes" | "statistics" | "testHistories" | "pipelines" | "rights" | "documents">;
