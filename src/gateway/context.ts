import type { AppContext, WithStores } from "../app/context.ts";

export type GatewayPorts = Pick<AppContext, "feed" | "mailboxes" | "board" | "presence" | "clock" | "log"> & WithStores<"aggregates" | "outputs" | "identity">;
