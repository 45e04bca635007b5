/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";
import type { NotificationContext } from "../notifications/context.ts";

/** What commit statuses are made and set with. */
export type StatusContext = NotificationContext & Pick<AppContext, "git">;

/** What those who read a run see of them. */
export type StatusReadContext = Pick<AppContext, "clock"> &
  WithStores<"deliveries" | "aggregates" | "pipelines" | "rights" | "documents">;
