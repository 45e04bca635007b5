/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";

/** What the use cases of users and tokens work with. */
export type IdentityContext = Pick<AppContext, "clock" | "signingKey" | "workloads"> &
  WithStores<"identity" | "logins" | "aggregates" | "idempotency">;
