import type { AppContext, WithStores } from "../../app/context.ts";

export type IngestContext = Pick<AppContext, "feed" | "clock" | "log" | "eventNamespace" | "artifactRules" | "cacheRules"> & WithStores<"aggregates" | "plans" | "agentEvents" | "logs" | "artifacts" | "caches" | "blobs">;
