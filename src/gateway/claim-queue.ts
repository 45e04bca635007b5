/**
 * The queue in which the agents of one gateway wait for offers. An offer wakes one agent that could take it, so that a
 * thousand idle agents do not all ask the board for one job.
 */
import type { AppContext } from "../app/context.ts";
import { type LabelledAgent, selectorMatches } from "../domain/labels.ts";
import { type Cancel, systemTimers, type Timers } from "../domain/clock.ts";
import { ClaimPauses } from "./claim-pauses.ts";

/** Between two checks for offers that have woken no agent. */
const POLL_MS = 1_000;

/** An agent that may take offers. */
export interface Claimant {
  readonly agent: LabelledAgent;
  freeSlots(): number;
  /** Called when the claimant should ask the board for offers; one offer wakes one claimant. */
  wake(): void;
}

export class ClaimQueue {
  readonly pauses: ClaimPauses;
  readonly #context: Pick<AppContext, "board" | "log">;
  readonly #timers: Timers;
  /** In the order of their last wake-up, oldest first. */
  readonly #claimants = new Set<Claimant>();
  #unsubscribe: (() => Promise<void>) | undefined;
  #cancelPoll: Cancel | undefined;

  constructor(context: Pick<AppContext, "board" | "clock" | "log">, timers: Timers = systemTimers) {
    this.#context = context;
    this.#timers = timers;
    this.pauses = new ClaimPauses(context.clock);
  }

  async start(): Promise<void> {
    this.#unsubscribe = await this.#context.board.onOffered((lane) => {
      this.#wakeOne((claimant) => selectorMatches(lane.selector, claimant.agent));
    });
    this.#schedulePoll();
  }

  async stop(): Promise<void> {
    this.#cancelPoll?.();
    await this.#unsubscribe?.();
  }

  /** Adds a claimant to the queue. The answer removes the claimant again. */
  join(claimant: Claimant): () => void {
    this.#claimants.add(claimant);
    return () => void this.#claimants.delete(claimant);
  }

  #schedulePoll(): void {
    this.#cancelPoll = this.#timers.after(POLL_MS, () => {
      this.#schedulePoll();
      void this.#poll();
    });
  }

  #wakeOne(mayTake: (claimant: Claimant) => boolean): void {
    for (const claimant of this.#claimants) {
      if (claimant.freeSlots() <= 0 || !mayTake(claimant)) continue;
      this.#claimants.delete(claimant);
      this.#claimants.add(claimant);
      claimant.wake();
      return;
    }
  }

  /**
   * Finds offers that woke no claimant: the announcement was lost, or an offer that was taken has returned to the
   * board.
   */
  async #poll(): Promise<void> {
    const free = [...this.#claimants].filter((claimant) => claimant.freeSlots() > 0);
    if (free.length === 0) return;
    try {
      if ((await this.#context.board.size()) === 0) return;
      for (const claimant of free) claimant.wake();
    } catch (error) {
      this.#context.log.debug({ error: String(error) }, "the board cannot be read");
    }
  }
}
