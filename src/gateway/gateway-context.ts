/** What the services of one gateway share. */
import type { ClaimDesk } from "./claim-queue.ts";
import type { DispatchBuilder } from "./dispatch-builder.ts";
import type { AppContext } from "../app/context.ts";

export interface GatewayContext extends AppContext {
  readonly gatewayId: string;
  readonly builder: DispatchBuilder;
  readonly desk: ClaimDesk;
  /** How often agents are asked to send a heartbeat, milliseconds. */
  readonly heartbeatIntervalMs: number;
}
