import type { AppContext, WithStores } from "../context.ts";

export type ContentContext = Pick<AppContext, "clock" | "log"> & WithStores<"aggregates" | "plans" | "artifacts" | "caches" | "blobs" | "pipelines">;
