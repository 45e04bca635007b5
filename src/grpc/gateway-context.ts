/** What the services of one gateway share. */
import type { ClaimDesk } from "../app/agent-claim-desk.ts";
import type { DispatchBuilder } from "../app/agent-dispatch.ts";
import type { AppContext } from "../app/context.ts";

export interface GatewayContext extends AppContext {
  readonly gatewayId: string;
  readonly builder: DispatchBuilder;
  readonly desk: ClaimDesk;
  /** How often agents are asked to send a heartbeat, milliseconds. */
  readonly heartbeatIntervalMs: number;
}
