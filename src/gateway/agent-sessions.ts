/** The sessions of one gateway; an agent has at most one of them. */
import { MillraceError } from "../domain/errors.ts";
import type { AgentId } from "../domain/ids.ts";
import { AgentSession, type AgentSessionOptions, superseded } from "./agent-session.ts";
import type { SessionContext } from "./gateway-context.ts";
import { anotherProcess } from "./second-process.ts";

export class AgentSessions {
  readonly #context: SessionContext;
  readonly #sessions = new Map<AgentId, AgentSession>();

  constructor(context: SessionContext) {
    this.#context = context;
  }

  /**
   * Makes a session and ends the agent's earlier session at this gateway, which is silent. The caller then calls {@link
   * AgentSession.open}. Throws `already_exists` while the earlier session hears the agent.
   */
  begin(options: AgentSessionOptions): AgentSession {
    const { agentId } = options.caller;
    if (this.#sessions.get(agentId)?.isHeard() === true) throw anotherProcess(agentId);
    const session = new AgentSession(this.#context, options);
    this.#sessions.get(agentId)?.end(superseded());
    this.#sessions.set(agentId, session);
    return session;
  }

  /** Closes a session whose stream has ended. */
  forget(agentId: AgentId, session: AgentSession): void {
    session.close();
    if (this.#sessions.get(agentId) === session) this.#sessions.delete(agentId);
  }

  /** Ends every session, so that the agents connect to another gateway. */
  endAll(): void {
    for (const session of this.#sessions.values()) {
      session.end(new MillraceError("unavailable", "this gateway is shutting down: connect again"));
    }
  }
}
