import type { AppContext, WithStores } from "../context.ts";

export type IdentityContext = Pick<AppContext, "clock" | "signingKey"> & WithStores<"identity">;
