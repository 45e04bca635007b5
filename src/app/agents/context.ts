/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../context.ts";

/** What the inventory of agents, their events and their removal work with. */
export type AgentsContext = Pick<AppContext, "feed" | "mailboxes" | "board" | "presence" | "clock" | "log"> &
  WithStores<"aggregates" | "agentEvents" | "identity" | "pipelines" | "rights" | "documents">;
