/** Reads what is stored of an agent again during a long session, because the notice of a change may be lost. */
import type { AgentId } from "../domain/ids.ts";
import type { Agent } from "../stores/ports/identity.ts";
import type { GatewayPorts } from "./context.ts";

/** Time between two reads. */
const READ_MS = 30_000;

export class StoredAgent {
  readonly #context: GatewayPorts;
  readonly #agentId: AgentId;
  #readAt: number;

  /** The caller has just read the agent. */
  constructor(context: GatewayPorts, agentId: AgentId) {
    this.#context = context;
    this.#agentId = agentId;
    this.#readAt = context.clock.monotonic();
  }

  /**
   * Reads the store at most every 30 s; undefined between two reads, and for an agent that is gone. Rejects when the
   * store cannot be read, and then reads it again with the next call.
   */
  async read(): Promise<Agent | undefined> {
    const now = this.#context.clock.monotonic();
    if (now - this.#readAt < READ_MS) return undefined;
    const agent = await this.#context.stores.identity.findAgent(this.#agentId);
    this.#readAt = now;
    return agent;
  }
}
