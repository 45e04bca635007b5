import type { AppContext, WithStores } from "../../app/context.ts";

export type HandoutContext = Pick<AppContext, "clock" | "cacheRules"> & WithStores<"aggregates" | "plans" | "artifacts" | "caches" | "blobs" | "plugins">;
