/** What everything in one gateway shares, whatever protocol the agents speak. */
import { randomUUID } from "node:crypto";
import type { AppContext } from "../app/context.ts";
import { reportRefusedDispatch } from "./actor-messages.ts";
import { ClaimQueue } from "./claim-queue.ts";
import type { GatewayPorts } from "./context.ts";
import { DispatchBuilder } from "./dispatch-builder.ts";

/** A third of the shortest lease, rounded down: two heartbeats may be lost. */
const HEARTBEAT_INTERVAL_MS = 3_000;

/** What the sessions and the calls of one gateway share. */
export interface GatewayParts {
  readonly gatewayId: string;
  readonly builder: DispatchBuilder;
  readonly claimQueue: ClaimQueue;
  /** How often agents are asked to send a heartbeat, milliseconds. */
  readonly heartbeatIntervalMs: number;
}

/** What a session, or a heartbeat without a session, works with. */
export type SessionContext = GatewayPorts & GatewayParts;

export interface GatewayContext extends AppContext, GatewayParts {}

/** A gateway of its own; the caller starts and stops its claim queue. */
export function gatewayContext(context: AppContext, heartbeatIntervalMs = HEARTBEAT_INTERVAL_MS): GatewayContext {
  return {
    ...context,
    gatewayId: randomUUID(),
    builder: new DispatchBuilder({
      stores: context.stores,
      secrets: context.secrets,
      onRefused: (step, reason) => reportRefusedDispatch(context, step, reason),
    }),
    claimQueue: new ClaimQueue(context),
    heartbeatIntervalMs,
  };
}
