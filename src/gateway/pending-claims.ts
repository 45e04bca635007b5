/**
 * Claims of one agent that wait for their answer, for agents that are pushed jobs and for agents that pull. A claim
 * takes an offer from the board and asks the offered job; the job answers with a dispatch or a refusal that names the
 * claim's request id. A claim without an answer ends after a time.
 */
import type { AgentBoot } from "../app/agents/agent-removal.ts";
import type { AppContext } from "../app/context.ts";
import type { LabelledAgent } from "../domain/labels.ts";
import { type Cancel, systemTimers, type Timers } from "../domain/clock.ts";
import { requestClaim } from "./actor-messages.ts";

/** How long an offer that was taken is hidden from other gateways. */
const HOLD_MS = 2_000;
/**
 * How long a claim waits for its answer. Longer than {@link HOLD_MS}: an answer may be on its way when the hold ends.
 */
const CLAIM_WAIT_MS = 2_500;

interface ClaimPorts {
  readonly board: Pick<AppContext["board"], "take">;
  readonly mailboxes: Pick<AppContext["mailboxes"], "send">;
  /** Absent: those of the process. */
  readonly timers?: Timers;
}

export class PendingClaims {
  readonly #ports: ClaimPorts;
  readonly #boot: AgentBoot;
  readonly #onSettled: () => void;
  readonly #waitMs: number;
  /** Cancels the timer of each waiting claim, by request id. */
  readonly #claims = new Map<string, Cancel>();

  /**
   * `onSettled` is called when a claim has its answer, or has waited for `waitMs` milliseconds: a slot may be free
   * again.
   */
  constructor(ports: ClaimPorts, boot: AgentBoot, onSettled: () => void, waitMs = CLAIM_WAIT_MS) {
    this.#ports = ports;
    this.#boot = boot;
    this.#onSettled = onSettled;
    this.#waitMs = waitMs;
  }

  /** How many claims wait; each holds one slot. */
  get count(): number {
    return this.#claims.size;
  }

  /**
   * Takes the best offers that the agent matches, at most one for each request id, and claims their jobs. Answers how
   * many offers there were. Rejects when the board or a mailbox cannot be reached; then none of these claims waits.
   */
  async claim(agent: LabelledAgent, requestIds: readonly string[]): Promise<number> {
    // The claims count before the board is asked: an answer may come before the calls have returned.
    const { timers = systemTimers } = this.#ports;
    for (const requestId of requestIds) {
      this.#claims.set(
        requestId,
        timers.after(this.#waitMs, () => this.settle(requestId)),
      );
    }
    let claimed = 0;
    try {
      const offers = await this.#ports.board.take(agent, HOLD_MS, requestIds.length);
      await Promise.all(offers.map((offer, at) => requestClaim(this.#ports, this.#boot, offer, requestIds[at]!)));
      claimed = offers.length;
    } finally {
      for (const requestId of requestIds.slice(claimed)) this.#forget(requestId);
    }
    return claimed;
  }

  /** Ends the claim with this request id, whose answer has come. Does nothing when no such claim waits. */
  settle(requestId: string): void {
    if (this.#forget(requestId)) this.#onSettled();
  }

  /** Ends every claim without calling `onSettled`. Idempotent. */
  close(): void {
    for (const cancel of this.#claims.values()) cancel();
    this.#claims.clear();
  }

  #forget(requestId: string): boolean {
    this.#claims.get(requestId)?.();
    return this.#claims.delete(requestId);
  }
}
