/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";
import type { EndedRuns } from "./ended-runs.ts";

/** What statistics are counted with and read from. */
export type StatisticsContext = { readonly endedRuns?: EndedRuns | undefined } & Pick<
  AppContext,
  "clock" | "spans" | "publicUrl"
> &
  WithStores<"aggregates" | "plans" | "notes" | "statistics" | "testHistories" | "pipelines" | "rights" | "documents">;
