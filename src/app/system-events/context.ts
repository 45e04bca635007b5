/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";

/** What logs of system events are read and followed with. */
export type SystemEventContext = Pick<AppContext, "feed" | "clock" | "log" | "eventNamespace"> &
  WithStores<"systemEvents" | "pipelines" | "rights" | "documents">;

/** What the presence of agents is told with. */
export type PresenceContext = Pick<AppContext, "feed" | "clock" | "log" | "presence"> &
  WithStores<"systemEvents" | "identity" | "documents">;
