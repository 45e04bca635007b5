import type { AppContext, WithStores } from "../../app/context.ts";

export type HandoutContext = Pick<AppContext, "feed" | "clock" | "log" | "eventNamespace" | "artifactRules" | "cacheRules"> & WithStores<"aggregates" | "plans" | "agentEvents" | "logs" | "artifacts" | "caches" | "blobs" | "plugins" | "pipelines">;
