/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../../app/context.ts";

/** What the downloads of agents work with: artifacts, uploads, cache entries and plugin packages. */
export type HandoutContext = Pick<AppContext, "clock" | "cacheRules"> &
  WithStores<"aggregates" | "plans" | "artifacts" | "uploads" | "caches" | "blobs" | "plugins">;
