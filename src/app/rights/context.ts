/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";

/** What the use cases of tenants, members, teams and service accounts work with. */
export type RightsUseContext = Pick<AppContext, "clock" | "log"> &
  WithStores<"pipelines" | "identity" | "logins" | "rights" | "documents" | "idempotency">;
