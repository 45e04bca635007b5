/**
 * Agents that could not start a step take no jobs for a while: what they gave back would come to them first, as they have a
 * free slot again. Kept by each gateway by itself; an agent that goes to another one begins with a clean slate there.
 */
import type { ReportPhase } from "../../actors/step/messages.ts";
import type { Clock } from "../domain/clock.ts";
import type { AgentId } from "../domain/ids.ts";

/** The first pause, and the longest; each further failure without a start in between doubles it. */
const FIRST_MS = 10_000;
const LONGEST_MS = 300_000;

interface Pause {
  readonly until: number;
  readonly ms: number;
}

export class ClaimPauses {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #pauses = new Map<AgentId, Pause>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  isPaused(agentId: AgentId): boolean {
    const pause = this.#pauses.get(agentId);
    return pause !== undefined && pause.until > this.#clock.monotonic();
  }

  /** Learns from what the agent reports of a step. */
  hear(agentId: AgentId, phase: ReportPhase): void {
    if (phase === "notStarted") this.#lengthen(agentId);
    else if (phase === "started" || phase === "succeeded") this.#pauses.delete(agentId);
  }

  #lengthen(agentId: AgentId): void {
    const now = this.#clock.monotonic();
    for (const [other, { until }] of this.#pauses) if (until + LONGEST_MS < now) this.#pauses.delete(other);
    const known = this.#pauses.get(agentId);
    // Several steps that fail at once are one failure.
    if (known !== undefined && known.until > now) return;
    const ms = known === undefined ? FIRST_MS : Math.min(LONGEST_MS, known.ms * 2);
    this.#pauses.set(agentId, { until: now + ms, ms });
  }
}
