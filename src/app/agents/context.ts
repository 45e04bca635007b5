import type { AppContext, WithStores } from "../context.ts";

export type AgentsContext = Pick<AppContext, "feed" | "mailboxes" | "presence" | "log"> & WithStores<"aggregates" | "agentEvents" | "identity">;
