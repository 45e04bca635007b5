/** A fetch of an agent that pulls, while it waits: it claims jobs, and hears what becomes of its claims. */
import type { AgentBoot } from "../app/agents/agent-removal.ts";
import { Signal } from "../app/signal.ts";
import { type AgentNotice, relabelled } from "../board/agent-notices.ts";
import type { Timers } from "../domain/clock.ts";
import type { GrantedStep } from "../domain/effects.ts";
import type { AgentId } from "../domain/ids.ts";
import { labelledAgent, type LabelledAgent } from "../domain/labels.ts";
import { type Agent, isDrained } from "../stores/ports/identity.ts";
import type { Claimant, ClaimQueue } from "./claim-queue.ts";
import type { GatewayPorts } from "./context.ts";
import { PendingClaims } from "./pending-claims.ts";
import { tokenRevoked } from "./registration.ts";

export interface FetchRequest extends AgentBoot {
  readonly requestId: string;
  readonly freeSlots: number;
  /** How long to wait for a step run, milliseconds. */
  readonly waitMs: number;
}

/** Without timers, a fetch uses those of the process. */
export type FetchContext = GatewayPorts & {
  readonly timers?: Timers;
  readonly claimQueue: ClaimQueue;
  readonly newUuid: () => string;
};

export class WaitingFetch implements Claimant {
  readonly agentId: AgentId;
  readonly claims: PendingClaims;
  agent: LabelledAgent;
  readonly #context: FetchContext;
  readonly #request: FetchRequest;
  readonly #signal: Signal;
  readonly #granted: GrantedStep[] = [];
  /** An operator has drained the agent. */
  #takesNone: boolean;
  #isRevoked = false;

  constructor(context: FetchContext, request: FetchRequest, agent: Agent) {
    const { agentId, bootId, requestId } = request;
    this.#context = context;
    this.#request = request;
    this.#signal = new Signal(context.timers);
    this.#takesNone = isDrained(agent);
    this.agentId = agentId;
    this.agent = labelledAgent(agent);
    this.claims = new PendingClaims(
      context,
      { agentId, bootId },
      { streamId: context.newUuid(), newId: () => requestId, onSettled: () => this.wake() },
    );
  }

  freeSlots(): number {
    const { pauses } = this.#context.claimQueue;
    return this.#takesNone || pauses.isPaused(this.agentId) ? 0 : this.#request.freeSlots;
  }

  wake(): void {
    this.#signal.raise();
  }

  hear(notice: AgentNotice): void {
    switch (notice.type) {
      case "dispatch":
        if (notice.order.bootId !== this.#request.bootId) return;
        this.#granted.push(notice.order);
        this.claims.granted(notice.order.requestId);
        break;
      case "refuseClaim":
        this.claims.settle(notice.requestId);
        return;
      case "superseded":
        // By no other stream: the agent has lost its token.
        if (notice.by !== "") return;
        this.#isRevoked = true;
        break;
      case "drain":
        this.#takesNone = notice.isDrained;
        if (this.#takesNone) this.claims.hide();
        break;
      case "labels":
        this.agent = relabelled(this.agent, notice);
        break;
      default:
        return;
    }
    this.wake();
  }

  /** The steps that are granted to the claims; empty when none is in time. Throws when the agent has lost its token. */
  async grants(abort: AbortSignal): Promise<readonly GrantedStep[]> {
    const now = () => this.#context.clock.monotonic();
    const endsAt = now() + this.#request.waitMs;
    while (this.#granted.length === 0 && now() < endsAt && !abort.aborted && !this.#isRevoked) {
      if (this.freeSlots() > 0 && this.claims.count === 0) await this.claims.claim(this.agent, 1);
      await this.#signal.wait(Math.max(0, endsAt - now()), abort);
    }
    if (this.#isRevoked) throw tokenRevoked();
    return this.#granted;
  }
}
