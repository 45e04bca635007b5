/** The loop of the autoscaler: it compares the demand with the agents that it has started, and starts and stops some. */
import type { Clock } from "../domain/clock.ts";
import type { Logger } from "../domain/logger.ts";
import type { AgentEnd, AgentSlots } from "./agent-slots.ts";
import { changeSize, type SizeBounds, type SizedAgent } from "./sizing.ts";

/** An agent that ends within this time without having been online counts as a failed start. */
const FAILED_WITHIN_MS = 60_000;
/** The first and the longest pause after failed starts. Each further one doubles it. */
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 300_000;

/** What the control plane says. */
export interface Observation {
  /** Jobs that wait for agents like those that are started here. */
  readonly waiting: number;
  /** The agents that are online, by name. */
  readonly online: ReadonlyMap<string, { readonly busy: number; readonly draining: boolean }>;
}

export interface AutoscalerOptions {
  readonly slots: Pick<AgentSlots, "living" | "start" | "stop">;
  readonly bounds: SizeBounds;
  readonly nameOf: (slot: number) => string;
  readonly clock: Pick<Clock, "monotonic">;
  readonly log: Logger;
}

export class Autoscaler {
  readonly #options: AutoscalerOptions;
  /** Since when each idle agent is idle, monotonic. */
  readonly #idleSince = new Map<number, number>();
  /** Agents that were online since they were started. */
  readonly #wereOnline = new Set<number>();
  #failedStarts = 0;
  #startsFrom = 0;

  constructor(options: AutoscalerOptions) {
    this.#options = options;
  }

  /** Changes the number of agents to what the observation asks for. */
  adjust(observation: Observation): void {
    const { slots, bounds, clock, log } = this.#options;
    const agents = slots.living().map((slot) => this.#look(slot, observation));
    const { start, stop } = changeSize(observation.waiting, agents, bounds);
    const isPaused = clock.monotonic() < this.#startsFrom;
    if (start > 0 && !isPaused) {
      log.info({ waiting: observation.waiting, agents: agents.length, start }, "jobs wait: agents are started");
      for (let at = 0; at < start; at++) this.#forget(slots.start());
    }
    for (const slot of stop) {
      log.info({ slot, agents: agents.length }, "an idle agent is not needed: it is stopped");
      slots.stop(slot);
    }
  }

  /** Hears that an agent has ended, so that starts which fail again and again become rare. */
  ended({ slot, code, ranMs, logFile }: AgentEnd): void {
    const { clock, log } = this.#options;
    const hasFailed = code !== 0 && ranMs < FAILED_WITHIN_MS && !this.#wereOnline.has(slot);
    log[hasFailed ? "warn" : "info"](
      { slot, code, logFile },
      hasFailed ? "an agent failed at its start" : "an agent ended",
    );
    if (!hasFailed) return;
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failedStarts);
    // Several that fail at once are one failure.
    if (clock.monotonic() < this.#startsFrom) return;
    this.#failedStarts++;
    this.#startsFrom = clock.monotonic() + pauseMs;
  }

  #look(slot: number, { online }: Observation): SizedAgent {
    const now = this.#options.clock.monotonic();
    const found = online.get(this.#options.nameOf(slot));
    if (found !== undefined) {
      this.#wereOnline.add(slot);
      this.#failedStarts = 0;
    }
    const state = found === undefined ? "starting" : found.draining ? "ending" : found.busy > 0 ? "busy" : "idle";
    if (state !== "idle") this.#idleSince.delete(slot);
    const since = this.#idleSince.get(slot) ?? now;
    if (state === "idle") this.#idleSince.set(slot, since);
    return { slot, state, idleMs: now - since };
  }

  #forget(slot: number): void {
    this.#idleSince.delete(slot);
    this.#wereOnline.delete(slot);
  }
}
