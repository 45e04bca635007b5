/** The application context, narrowed to what this folder uses. */
import type { AppContext, WithStores } from "../app/context.ts";

/** What sessions and calls of agents work with; {@link GatewayContext} adds what one gateway shares. */
export type GatewayPorts = Pick<
  AppContext,
  "feed" | "mailboxes" | "board" | "presence" | "clock" | "log" | "eventNamespace"
> &
  WithStores<"aggregates" | "outputs" | "notes" | "identity">;
