/** Whether an agent may still say what it says over a stream that it opened long ago. */
import { MillraceError } from "../domain/errors.ts";
import type { Agent } from "../stores/ports/identity.ts";
import type { AgentCaller } from "../app/identity/access.ts";
import type { GatewayPorts } from "./context.ts";

/** The notice of a revocation may be lost: this bounds for how long the agent would not be missed. */
const LOOK_MS = 30_000;

export class RevocationCheck {
  readonly #context: GatewayPorts;
  readonly #caller: AgentCaller;
  #lookedAt: number;

  /** Of a caller that was authenticated just now. */
  constructor(context: GatewayPorts, caller: AgentCaller) {
    this.#context = context;
    this.#caller = caller;
    this.#lookedAt = context.clock.monotonic();
  }

  /**
   * Looks into the store, at most every 30 s: answers the agent as it is stored when it did. Throws `unauthenticated` when
   * the token is gone; rejects when the store cannot be read, and looks again the next time.
   */
  async check(): Promise<Agent | undefined> {
    const now = this.#context.clock.monotonic();
    if (now - this.#lookedAt < LOOK_MS) return undefined;
    const { identity } = this.#context.stores;
    const { agentId, tokenId } = this.#caller;
    const [token, agent] = await Promise.all([identity.findToken(tokenId), identity.findAgent(agentId)]);
    if (token === undefined || agent === undefined) throw tokenRevoked();
    this.#lookedAt = now;
    return agent;
  }
}

export function tokenRevoked(): MillraceError {
  return new MillraceError("unauthenticated", "the agent's token is revoked: register it again");
}
