/**
 * Pauses in claiming for agents that could not start a step: without a pause, the agent would claim the same job again,
 * since its slot is free first. Each gateway keeps its own pauses; an agent that connects to another gateway has none
 * there.
 */
import type { ReportPhase } from "../../actors/step/messages.ts";
import type { Clock } from "../domain/clock.ts";
import type { AgentId } from "../domain/ids.ts";

/** The first and the longest pause. Each further failure without a start in between doubles the pause. */
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

  /**
   * Begins or lengthens the agent's pause for a step that was not started; ends the pause for a step that has started.
   */
  learnFrom(agentId: AgentId, phase: ReportPhase): void {
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
