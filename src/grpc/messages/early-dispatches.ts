/**
 * Dispatches that are encoded while the grants of their steps are being saved. The process waits for the disk then, and each
 * dispatch leaves sooner once its grant is stored.
 */
import { ConnectResponse } from "../../../proto/generated/agent/v1/agent.ts";
import type { AgentMessage } from "../../gateway/agent-message.ts";
import type { Dispatch } from "../../gateway/dispatch-builder.ts";
import { connectResponse } from "./agent-messages.ts";

export class EarlyDispatches {
  readonly #encoded = new WeakMap<Dispatch, Buffer>();

  /** Encodes a dispatch that will probably be sent soon. */
  encode(dispatch: Dispatch): void {
    const message = connectResponse({ type: "dispatch", dispatch });
    this.#encoded.set(dispatch, Buffer.from(ConnectResponse.encode(message).finish()));
  }

  /** The encoded message; undefined for one that was not encoded early. */
  find(message: AgentMessage): Buffer | undefined {
    return message.type === "dispatch" ? this.#encoded.get(message.dispatch) : undefined;
  }
}
