/**
 * The vacancies in a simulated Redis: what the scripts of src/board/vacancy-scripts.ts do, each as one method. Classes of
 * agents only make the board fast, so there are none here.
 */
import {
  ATTENDED_MS,
  type Attendance,
  RESERVED_MS,
  type Reservation,
  type TakenOffer,
  type Vacancies as Shown,
} from "../../../src/board/board.ts";
import type { Offer } from "../../../src/domain/effects.ts";
import type { AgentId } from "../../../src/domain/ids.ts";
import { type LabelledAgent, selectorMatches } from "../../../src/domain/labels.ts";
import { agentQuotas, projectQuotas, type Quotas } from "../../../src/domain/quotas.ts";
import type { Offers } from "./offers.ts";

/** As long as in src/board/vacancy-scripts.ts. */
const KEPT_HELD_MS = 60_000;

interface Vacant {
  shown: Shown;
  agent: LabelledAgent;
  ids: readonly string[];
  /** Reserved request ids by the end of their reservations. */
  readonly held: Map<string, number>;
  /** Agents are served in the order of their turns. */
  turn: number;
}

export class Vacancies {
  readonly #now: () => number;
  readonly #offers: Offers;
  readonly #agents = new Map<AgentId, Vacant>();
  readonly #attendedUntil = new Map<string, number>();
  /** Reservations that were not seen, by request id. */
  readonly #lapsing = new Map<string, { readonly agentId: AgentId; readonly end: number }>();
  #turns = 0;

  constructor(now: () => number, offers: Offers) {
    this.#now = now;
    this.#offers = offers;
  }

  take(quotas: Quotas, agent: LabelledAgent, holdMs: number, count: number, shown?: Shown): readonly TakenOffer[] {
    if (shown === undefined) return this.#offers.take(quotas, agent, holdMs, count);
    const { agentId, requestIds, seen } = shown;
    const before = this.#agents.get(agentId);
    const held = before?.held ?? new Map<string, number>();
    for (const id of seen) {
      held.delete(id);
      this.#lapsing.delete(id);
    }
    for (const [id, end] of held) if (end + KEPT_HELD_MS <= this.#now()) held.delete(id);
    const active = [...held.values()].filter((end) => end > this.#now()).length;
    const usable = requestIds.filter((id) => !held.has(id)).slice(0, Math.max(0, requestIds.length - active));
    const offers = this.#offers.take(quotas, agent, holdMs, Math.min(count, usable.length));
    const ids = usable.slice(offers.length);
    this.#agents.set(agentId, { shown, agent, ids, held, turn: before?.turn ?? ++this.#turns });
    return offers.map((offer, at) => ({ ...offer, vacancy: usable[at]! }));
  }

  reserve(quotas: Quotas, offer: Offer): Reservation | undefined {
    for (const vacant of [...this.#agents.values()].toSorted((a, b) => a.turn - b.turn)) {
      const { shown, agent, ids, held } = vacant;
      if (!this.#isAttended(shown.attendanceId) || ids.length === 0 || !selectorMatches(offer.selector, agent))
        continue;
      if (this.#offers.waitsFor(agent)) continue;
      const ofAgent = agentQuotas(quotas, agent.labels);
      const all = [...ofAgent, ...projectQuotas(quotas, offer.projectId)];
      if (!this.#offers.takePlaces(offer, all, RESERVED_MS)) continue;
      const [requestId, ...left] = ids;
      const end = this.#now() + RESERVED_MS;
      vacant.ids = left;
      vacant.turn = ++this.#turns;
      held.set(requestId!, end);
      this.#lapsing.set(requestId!, { agentId: shown.agentId, end });
      return {
        agentId: shown.agentId,
        bootId: shown.bootId,
        requestId: requestId!,
        quotas: all.map(({ name }) => name),
      };
    }
    return undefined;
  }

  hide(agentId: AgentId, streamId: string): void {
    const vacant = this.#agents.get(agentId);
    if (vacant?.shown.streamId === streamId) vacant.ids = [];
  }

  attend(attendanceId: string, isNew: boolean): Attendance {
    const lasts = isNew || this.#isAttended(attendanceId);
    if (lasts) this.#attendedUntil.set(attendanceId, this.#now() + ATTENDED_MS);
    const ended: { agentId: AgentId; requestId: string }[] = [];
    for (const [requestId, { agentId, end }] of this.#lapsing) {
      const gateway = this.#agents.get(agentId)?.shown.attendanceId;
      if (end > this.#now() || (gateway !== attendanceId && this.#isAttended(gateway))) continue;
      this.#lapsing.delete(requestId);
      if (gateway === attendanceId) ended.push({ agentId, requestId });
    }
    return { lasts, offers: this.#offers.size, ended };
  }

  /** The request ids of the vacancies that this boot of the agent shows. */
  of(agentId: AgentId, bootId: string): readonly string[] {
    const vacant = this.#agents.get(agentId);
    return vacant?.shown.bootId === bootId ? vacant.ids : [];
  }

  empty(): void {
    this.#agents.clear();
    this.#attendedUntil.clear();
    this.#lapsing.clear();
  }

  #isAttended(attendanceId: string | undefined): boolean {
    return (this.#attendedUntil.get(attendanceId ?? "") ?? 0) > this.#now();
  }
}
