/**
 * Where the agents of one gateway wait for offers. An offer wakes one agent that could take it, so that a thousand idle agents do
 * not all ask the board for one job.
 */
import type { AppContext } from "../app/context.ts";
import { type Labels, selectorMatches } from "../domain/labels.ts";
import { ClaimPauses } from "./claim-pauses.ts";

const POLL_MS = 1_000;

/** An agent that may take offers. */
export interface Claimant {
  readonly labels: Labels;
  freeSlots(): number;
  /** An offer may be there; called for one claimant at a time. */
  wake(): void;
}

export class ClaimQueue {
  readonly pauses: ClaimPauses;
  readonly #context: Pick<AppContext, "board" | "log">;
  /** Those that were woken longest ago come first. */
  readonly #claimants = new Set<Claimant>();
  #unsubscribe: (() => Promise<void>) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(context: Pick<AppContext, "board" | "clock" | "log">) {
    this.#context = context;
    this.pauses = new ClaimPauses(context.clock);
  }

  async start(): Promise<void> {
    this.#unsubscribe = await this.#context.board.onOffered((lane) => {
      this.#wakeOne((claimant) => selectorMatches(lane.selector, claimant.labels));
    });
    this.#timer = setInterval(() => void this.#poll(), POLL_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#unsubscribe?.();
  }

  /** Wakes the claimant from now on, until the function that this answers is called. */
  join(claimant: Claimant): () => void {
    this.#claimants.add(claimant);
    return () => void this.#claimants.delete(claimant);
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

  /** Finds offers whose announcement woke nobody: the announcement was lost, or a held offer has returned by itself. */
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
