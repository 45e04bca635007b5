/**
 * Claims of one agent that wait for their answer, for agents that are pushed jobs and for agents that pull. A claim
 * takes an offer from the board and asks the offered job; the job answers with a dispatch or a refusal that names the
 * claim's request id. A claim without an answer ends after a time.
 *
 * Where no offer is there for a free slot, the slot stays on the board as a vacancy. A run that is created may take the
 * vacancy: then a dispatch comes that names the vacancy's request id, and that no claim has asked for.
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
/** Between two attempts to hide the vacancies of an agent that has gone. */
const HIDE_AGAIN_MS = 500;

interface ClaimPorts {
  readonly board: Pick<AppContext["board"], "take" | "hide">;
  readonly mailboxes: Pick<AppContext["mailboxes"], "send">;
  /** Under which the gateway attends its vacancies at present, and whether it does so no longer. */
  readonly claimQueue: { readonly attendanceId: string; readonly isStopped: boolean };
  /** Absent: those of the process. */
  readonly timers?: Timers;
}

export interface PendingClaimsOptions {
  /** Names what shows the vacancies; another one for each stream and fetch. */
  readonly streamId: string;
  /** The request id of the next claim or vacancy. */
  readonly newId: () => string;
  /**
   * Called when a claim has its answer, or has waited for `waitMs` milliseconds, or a reservation has ended: a slot may be
   * free again.
   */
  readonly onSettled: () => void;
  readonly waitMs?: number;
}

export class PendingClaims {
  readonly #ports: ClaimPorts;
  readonly #boot: AgentBoot;
  readonly #options: PendingClaimsOptions;
  /** Cancels the timer of each waiting claim, by request id. */
  readonly #claims = new Map<string, Cancel>();
  /** Request ids of the vacancies that stand on the board, unless a run has taken them. */
  readonly #shown = new Set<string>();
  /** As what they stand there; an undefined agent when they must be shown again. */
  #shownAs: { readonly agent: LabelledAgent | undefined; readonly attendanceId: string } | undefined;
  /** Reservations that are over, which the board does not know yet. */
  readonly #seen = new Set<string>();
  /** True while the board is asked. */
  isAsking = false;
  /** The vacancies are to be hidden once the board has answered. */
  #mustHide = false;

  constructor(ports: ClaimPorts, boot: AgentBoot, options: PendingClaimsOptions) {
    this.#ports = ports;
    this.#boot = boot;
    this.#options = options;
  }

  /** How many claims wait; each holds one slot. */
  get count(): number {
    return this.#claims.size;
  }

  /** How many vacancies stand on the board, as far as is known. */
  get vacancies(): number {
    return this.#shown.size;
  }

  /**
   * Takes the best offers that the agent matches, at most `count`, and claims their jobs. The others of its `free` slots
   * stand on the board from then on. Answers how many offers there were. Rejects when the board or a mailbox cannot be reached;
   * then none of these claims waits.
   */
  async claim(agent: LabelledAgent, count: number, free = count): Promise<number> {
    const { timers = systemTimers, board } = this.#ports;
    const { attendanceId } = this.#ports.claimQueue;
    const { newId, streamId, waitMs = CLAIM_WAIT_MS } = this.#options;
    // An attendance ends when the board was lost or silent: it may have forgotten which request ids were reserved.
    if (this.#shownAs?.attendanceId !== attendanceId) this.#shown.clear();
    const areShown = this.#shownAs?.agent === agent && this.#shown.size === free;
    // Not those of the vacancies: a run may have taken one of them, and an emptied board would not know it.
    const claimIds = Array.from({ length: count }, newId);
    const requestIds = [...this.#shown].slice(0, free);
    while (requestIds.length < free) requestIds.push(newId());
    this.#shown.clear();
    // A run may take a vacancy before the call has returned.
    for (const requestId of requestIds) this.#shown.add(requestId);
    for (const requestId of claimIds) {
      // The claims count before the board is asked: an answer may come before the calls have returned.
      this.#claims.set(
        requestId,
        timers.after(waitMs, () => this.settle(requestId)),
      );
    }
    this.#shownAs = { agent: undefined, attendanceId };
    const seen = [...this.#seen];
    let claimed = 0;
    this.isAsking = true;
    try {
      const vacancies = { ...this.#boot, attendanceId, streamId, requestIds, seen, areShown };
      const offers = await board.take(agent, HOLD_MS, count, vacancies).finally(() => void (this.isAsking = false));
      this.#shownAs = { agent, attendanceId };
      if (!areShown) for (const requestId of seen) this.#seen.delete(requestId);
      for (const [at, { vacancy }] of offers.entries()) this.#shown.delete(vacancy ?? requestIds[at]!);
      await Promise.all(offers.map((offer, at) => requestClaim(this.#ports, this.#boot, offer, claimIds[at]!)));
      claimed = offers.length;
    } finally {
      for (const requestId of claimIds.slice(claimed)) this.#forget(requestId);
      if (this.#mustHide) this.hide();
    }
    return claimed;
  }

  /** Ends the claim with this request id, whose answer has come. Does nothing when no such claim waits. */
  settle(requestId: string): void {
    if (this.#forget(requestId)) this.#options.onSettled();
  }

  /**
   * A dispatch has come with this request id: it answers a claim, or a run has taken a vacancy, maybe one that the agent
   * showed at another gateway.
   */
  granted(requestId: string): void {
    this.#shown.delete(requestId);
    if (requestId !== "" && !this.#claims.has(requestId)) this.#seen.add(requestId);
    this.settle(requestId);
  }

  /** A reservation of a vacancy of this agent has ended, and no dispatch has come: all its free slots are shown again. */
  reservationEnded(requestId: string): void {
    this.#shown.delete(requestId);
    if (this.#shownAs !== undefined) this.#shownAs = { ...this.#shownAs, agent: undefined };
    this.#options.onSettled();
  }

  /** Removes the vacancies from the board. */
  hide(): void {
    this.#mustHide = this.isAsking;
    if (this.isAsking || this.#shown.size === 0) return;
    this.#shown.clear();
    const { board, claimQueue, timers = systemTimers } = this.#ports;
    const { attendanceId } = claimQueue;
    const hide = (): void => {
      board.hide(this.#boot.agentId, this.#options.streamId).catch(() => {
        // The vacancies of an attendance that has ended do not count, and others may have been shown since.
        const mayCount = claimQueue.attendanceId === attendanceId && !claimQueue.isStopped;
        if (mayCount && this.#shown.size === 0) timers.after(HIDE_AGAIN_MS, hide);
      });
    };
    hide();
  }

  /** Ends every claim without calling `onSettled`, and hides the vacancies. Idempotent. */
  close(): void {
    for (const cancel of this.#claims.values()) cancel();
    this.#claims.clear();
    this.hide();
  }

  #forget(requestId: string): boolean {
    this.#claims.get(requestId)?.();
    return this.#claims.delete(requestId);
  }
}
