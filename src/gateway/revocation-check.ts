/** Checks during a long stream that the agent's token is still valid and the agent still registered. */
import { MillraceError } from "../domain/errors.ts";
import type { Agent } from "../stores/ports/identity.ts";
import type { AgentCaller } from "../app/identity/access.ts";
import type { GatewayPorts } from "./context.ts";

/**
 * Time between two checks: when the notice of a revocation is lost, the agent keeps its stream for at most this long.
 */
const CHECK_MS = 30_000;

export class RevocationCheck {
  readonly #context: GatewayPorts;
  readonly #caller: AgentCaller;
  #checkedAt: number;

  /** `caller` was authenticated just now. */
  constructor(context: GatewayPorts, caller: AgentCaller) {
    this.#context = context;
    this.#caller = caller;
    this.#checkedAt = context.clock.monotonic();
  }

  /**
   * Reads the store at most every 30 s. Answers the stored agent when it has read the store, else undefined. Throws
   * `unauthenticated` when the token or the agent is gone; rejects when the store cannot be read, and then reads it
   * again with the next call.
   */
  async check(): Promise<Agent | undefined> {
    const now = this.#context.clock.monotonic();
    if (now - this.#checkedAt < CHECK_MS) return undefined;
    const { identity } = this.#context.stores;
    const { agentId, tokenId } = this.#caller;
    const [token, agent] = await Promise.all([identity.findToken(tokenId), identity.findAgent(agentId)]);
    if (token === undefined || agent === undefined) throw tokenRevoked();
    this.#checkedAt = now;
    return agent;
  }
}

export function tokenRevoked(): MillraceError {
  return new MillraceError("unauthenticated", "the agent's token is revoked: register it again");
}
