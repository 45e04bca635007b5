/** Messages from a gateway to an agent, which a transport encodes. */
import type { AgentNotice } from "../board/agent-notices.ts";
import type { AgentId } from "../domain/ids.ts";
import type { Dispatch, DispatchBuilder } from "./dispatch-builder.ts";

/** The answer to a hello; the first message of every session. */
export interface Welcome {
  readonly type: "welcome";
  readonly agentId: AgentId;
  /** How often the agent is asked to send a heartbeat, milliseconds. */
  readonly heartbeatIntervalMs: number;
  /** First word of event types. */
  readonly eventNamespace: string;
}

export type AgentMessage =
  | Welcome
  | { readonly type: "dispatch"; readonly dispatch: Dispatch }
  | Extract<AgentNotice, { readonly type: "revoke" | "release" | "acknowledge" | "refuse" }>
  | { readonly type: "heartbeatAck"; readonly sequence: bigint };

/**
 * The message that passes a notice on to the agent. Undefined for a notice that is only for gateways, and for a
 * dispatch that was refused. Rejects when a dispatch cannot be built now.
 */
export async function agentMessageOf(builder: DispatchBuilder, notice: AgentNotice): Promise<AgentMessage | undefined> {
  switch (notice.type) {
    case "dispatch": {
      const dispatch = await builder.build(notice.order);
      return dispatch === undefined ? undefined : { type: "dispatch", dispatch };
    }
    case "revoke":
    case "release":
    case "acknowledge":
    case "refuse":
      return notice;
    case "labels":
    case "drain":
    case "refuseClaim":
    case "superseded":
    case "probe":
    case "alive":
      return undefined;
  }
}
