import type { AppContext, WithStores } from "../context.ts";

export type RunsContext = Pick<AppContext, "board" | "presence" | "clock" | "log"> & WithStores<"aggregates" | "plans" | "events" | "outputs" | "pipelines" | "idempotency" | "retention">;
