/**
 * Where the agents of one gateway wait for offers: an offer wakes one of them that could take it, so that a thousand
 * idle agents do not all run for one job.
 */
import { type Labels, selectorMatches } from "../domain/labels.ts";
import type { Offer } from "../domain/effects.ts";
import { type AgentBoot, requestClaim } from "./actor-messages.ts";
import { ClaimPauses } from "./claim-pauses.ts";
import type { AppContext } from "../app/context.ts";

/** For how long a taken offer is out of sight. */
const HOLD_MS = 2_000;
/** How long a claim is waited for. Longer than the hold: the last answer may have been on its way when it ended. */
export const CLAIM_WAIT_MS = 2_500;
const POLL_MS = 1_000;

/** An agent that may take offers. */
export interface Claimant {
  readonly labels: Labels;
  freeSlots(): number;
  /** An offer may be there; called for one claimant after the other. */
  wake(): void;
}

export class ClaimDesk {
  readonly pauses: ClaimPauses;
  readonly #context: Pick<AppContext, "board" | "log">;
  /** In the order of the last wake-up. */
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

  /** Wakes the claimant from now on, until the answer is called. */
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

  /** Finds what was announced in vain: a lost wake-up, or an offer that has come back by itself. */
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

/** Takes the best offers for an agent, at most one for each request id, and asks for their jobs. */
export async function claimNext(
  context: AppContext,
  boot: AgentBoot,
  labels: Labels,
  requestIds: readonly string[],
): Promise<readonly Offer[]> {
  const offers = await context.board.take(labels, HOLD_MS, requestIds.length);
  await Promise.all(offers.map((offer, at) => requestClaim(context, boot, offer, requestIds[at]!)));
  return offers;
}
