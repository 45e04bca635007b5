/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";

/** What the use cases of artifacts and cache entries work with. */
export type ContentContext = Pick<AppContext, "clock" | "log" | "cacheRules" | "uploadRules" | "directDownloads"> &
  WithStores<
    | "aggregates"
    | "plans"
    | "artifacts"
    | "caches"
    | "uploads"
    | "blobs"
    | "pipelines"
    | "rights"
    | "documents"
    | "idempotency"
  >;
