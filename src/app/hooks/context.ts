/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";
import type { TriggeringContext } from "../triggering/context.ts";

/** What hooks are kept, changed and called with. */
export type HookContext = Pick<AppContext, "clock" | "log" | "secrets" | "feed" | "newId"> &
  WithStores<"hooks" | "blobs" | "secrets" | "pipelines" | "rights" | "documents" | "idempotency">;

/** What deliveries are processed with. */
export type HookRunContext = HookContext & TriggeringContext & WithStores<"audit">;
