/**
 * Claims of one agent that wait for their answer, the same for push and for pull. A claim takes an offer from the board and asks
 * its job; the job answers with a dispatch or a refusal under the claim's request id. A claim without an answer ends by itself.
 */
import type { AgentBoot } from "../app/agents/agent-removal.ts";
import type { AppContext } from "../app/context.ts";
import type { Labels } from "../domain/labels.ts";
import { requestClaim } from "./actor-messages.ts";

/** How long a taken offer is hidden from other gateways. */
const HOLD_MS = 2_000;
/** How long a claim waits for its answer. Longer than the hold: the answer may have been on its way when the hold ended. */
const CLAIM_WAIT_MS = 2_500;

export class PendingClaims {
  readonly #context: Pick<AppContext, "board" | "mailboxes">;
  readonly #boot: AgentBoot;
  readonly #onSettled: () => void;
  /** The timer of each claim, by request id. */
  readonly #claims = new Map<string, NodeJS.Timeout>();

  /** `onSettled` is called when a claim has its answer, or has waited long enough: a slot may be free again. */
  constructor(context: Pick<AppContext, "board" | "mailboxes">, boot: AgentBoot, onSettled: () => void) {
    this.#context = context;
    this.#boot = boot;
    this.#onSettled = onSettled;
  }

  /** How many claims wait; each holds one slot. */
  get count(): number {
    return this.#claims.size;
  }

  /**
   * Takes the best offers that the labels match, at most one for each request id, and asks for their jobs. Answers how many
   * there were. Rejects when the board or a mailbox cannot be reached.
   */
  async claim(labels: Labels, requestIds: readonly string[]): Promise<number> {
    // The slots are taken before the board is asked: the answer may come before the request has returned.
    for (const requestId of requestIds) {
      this.#claims.set(
        requestId,
        setTimeout(() => this.settle(requestId), CLAIM_WAIT_MS),
      );
    }
    let claimed = 0;
    try {
      const offers = await this.#context.board.take(labels, HOLD_MS, requestIds.length);
      await Promise.all(offers.map((offer, at) => requestClaim(this.#context, this.#boot, offer, requestIds[at]!)));
      claimed = offers.length;
    } finally {
      for (const requestId of requestIds.slice(claimed)) this.#forget(requestId);
    }
    return claimed;
  }

  /** The claim has its answer. Does nothing for a request id that does not wait. */
  settle(requestId: string): void {
    if (this.#forget(requestId)) this.#onSettled();
  }

  /** Forgets every claim without calling `onSettled`. Idempotent. */
  close(): void {
    for (const timer of this.#claims.values()) clearTimeout(timer);
    this.#claims.clear();
  }

  #forget(requestId: string): boolean {
    clearTimeout(this.#claims.get(requestId));
    return this.#claims.delete(requestId);
  }
}
