/**
 * The queue in which the agents of one gateway wait for offers. An offer wakes one agent that could take it, so that a
 * thousand idle agents do not all ask the board for one job. The queue also attends the vacancies that its agents show on
 * the board: those of a gateway that has died are taken by no run.
 */
import { randomUUID } from "node:crypto";
import type { AppContext } from "../app/context.ts";
import { type Attendance, laneMatches } from "../board/board.ts";
import type { LabelledAgent } from "../domain/labels.ts";
import { type Cancel, systemTimers, type Timers, untilNext } from "../domain/clock.ts";
import type { AgentId } from "../domain/ids.ts";
import { ClaimPauses } from "./claim-pauses.ts";
import type { PendingClaims } from "./pending-claims.ts";

/** Between two checks for offers that have woken no agent; shorter than the time for which vacancies count. */
const POLL_MS = 1_000;

/** An agent that may take offers. */
export interface Claimant {
  readonly agentId: AgentId;
  readonly agent: LabelledAgent;
  readonly claims: PendingClaims;
  freeSlots(): number;
  /** Called when the claimant should ask the board for offers; one offer wakes one claimant. */
  wake(): void;
}

export class ClaimQueue {
  readonly pauses: ClaimPauses;
  readonly #context: Pick<AppContext, "board" | "clock" | "log">;
  readonly #timers: Timers;
  readonly #newUuid: () => string;
  #attendanceId: string;
  #isStopped = false;
  /** In the order of their last wake-up, oldest first. */
  readonly #claimants = new Set<Claimant>();
  #unsubscribe: (() => Promise<void>) | undefined;
  #cancelPoll: Cancel | undefined;

  constructor(
    context: Pick<AppContext, "board" | "clock" | "log">,
    timers: Timers = systemTimers,
    newUuid: () => string = randomUUID,
  ) {
    this.#context = context;
    this.#timers = timers;
    this.#newUuid = newUuid;
    this.#attendanceId = newUuid();
    this.pauses = new ClaimPauses(context.clock);
  }

  /** Under which the vacancies of this gateway count; another one after a time in which they were not attended. */
  get attendanceId(): string {
    return this.#attendanceId;
  }

  /** The vacancies of this gateway are attended no longer, so they stop to count by themselves. */
  get isStopped(): boolean {
    return this.#isStopped;
  }

  async start(): Promise<void> {
    this.#unsubscribe = await this.#context.board.onOffered((lane, count) => {
      this.#wake(count, (claimant) => laneMatches(lane, claimant.agent));
    });
    this.#schedulePoll();
    await this.#poll();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancelPoll?.();
    await this.#unsubscribe?.();
  }

  /** Adds a claimant to the queue. The answer removes the claimant again. */
  join(claimant: Claimant): () => void {
    this.#claimants.add(claimant);
    return () => void this.#claimants.delete(claimant);
  }

  #schedulePoll(): void {
    this.#cancelPoll = this.#timers.after(untilNext(POLL_MS, this.#context.clock.monotonic()), () => {
      this.#schedulePoll();
      void this.#poll();
    });
  }

  /** Wakes at most `count` claimants, each once. */
  #wake(count: number, mayTake: (claimant: Claimant) => boolean): void {
    let left = count;
    // A claimant that is woken goes behind the others, where this loop would meet it again.
    let unseen = this.#claimants.size;
    for (const claimant of this.#claimants) {
      if (unseen-- === 0) return;
      if (claimant.freeSlots() <= 0 || !mayTake(claimant)) continue;
      this.#claimants.delete(claimant);
      this.#claimants.add(claimant);
      claimant.wake();
      if (--left === 0) return;
    }
  }

  /**
   * Finds offers that woke no claimant: the announcement was lost, or an offer that was taken has returned to the
   * board. Hides vacancies whose slots are not free, and shows those again that count no more.
   */
  async #poll(): Promise<void> {
    const { board, log } = this.#context;
    try {
      let attendance = await board.attend(this.#attendanceId);
      const { lasts, ended } = attendance;
      if (!lasts) {
        this.#attendanceId = this.#newUuid();
        attendance = await board.attend(this.#attendanceId, true);
      }
      if (ended.length > 0) this.#endReservations(ended);
      const mayTake = attendance.offers > 0 || !lasts;
      for (const claimant of this.#claimants) {
        const { claims } = claimant;
        if (claimant.freeSlots() > 0) {
          if (mayTake || claims.vacancies === 0) claimant.wake();
        } else if (!claims.isAsking) claims.hide();
      }
    } catch (error) {
      log.debug({ error: String(error) }, "the board cannot be read");
    }
  }

  #endReservations(ended: Attendance["ended"]): void {
    const idsOf = new Map<AgentId, string[]>();
    for (const { agentId, requestId } of ended) idsOf.set(agentId, [...(idsOf.get(agentId) ?? []), requestId]);
    for (const { agentId, claims } of this.#claimants) {
      for (const requestId of idsOf.get(agentId) ?? []) claims.reservationEnded(requestId);
    }
  }
}
