import type { AppContext, WithStores } from "../app/context.ts";

export type GatewayPorts = Pick<AppContext, "feed" | "mailboxes" | "board" | "presence" | "clock" | "log" | "signingKey"> & WithStores<"aggregates" | "agentEvents" | "outputs" | "identity">;
