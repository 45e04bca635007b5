/**
 * Vacancies that stay in the process of their gateway, because no other node lives that could reserve them. They mean what
 * those on the board mean (vacancy-scripts.ts): a request id that was reserved is never used again, and a slot that is
 * reserved counts as taken until its gateway knows of the grant or the reservation has ended. No I/O.
 */
import type { AgentId } from "../domain/ids.ts";
import type { LabelledAgent } from "../domain/labels.ts";
import {
  ATTENDED_MS,
  type Attendance,
  type Lane,
  laneMatches,
  RESERVED_MS,
  type Reservation,
  type Vacancies,
} from "./board.ts";
import { classOf } from "./vacancy-classes.ts";

/** How long the end of a reservation is remembered: a grant that was saved late may carry its request id. */
const KEPT_HELD_MS = 60_000;

/** What is known of the offers for a class of agents is kept for this long after one of its agents was shown. */
const KEPT_CLASS_MS = 60_000;

/** A reservation that its gateway has not seen. */
interface Hold {
  readonly end: number;
  /** The attendance that has to be told when the reservation has ended; null for none. */
  toldTo: string | null;
}

interface Vacant {
  shown: Vacancies;
  ofClass: AgentClass;
  ids: readonly string[];
}

/** Agents with equal labels: the same offers are for all of them. */
export interface AgentClass {
  readonly agent: LabelledAgent;
  /** Agents with vacancies, the one that was served least recently first. */
  readonly vacant: Map<AgentId, Vacant>;
  /** Offers that these agents match, as often as some were announced. */
  announcements: number;
  /** True when no offer waits for these agents, as far as is known. */
  isClear: boolean;
  /** Settles when the board has said which offers there are for these agents; null while it is not asked. */
  asking: Promise<unknown> | null;
  /** When it was last looked up, monotonic milliseconds. */
  usedAt: number;
}

/** `asked`: to be tried again when the promise settles. `unsure`: an offer may wait for the agents of these classes. */
type Search =
  | { readonly type: "reserved"; readonly reservation: Reservation }
  | { readonly type: "asked"; readonly answer: Promise<unknown> }
  | { readonly type: "unsure"; readonly classes: readonly AgentClass[] }
  | { readonly type: "none" };

export class LoneVacancies {
  readonly #agents = new Map<AgentId, Vacant>();
  /** By request id, of each agent that has some. */
  readonly #held = new Map<AgentId, Map<string, Hold>>();
  readonly #classes = new Map<string, AgentClass>();
  /** The id of each agent's class, by the agent's object. */
  readonly #classIds = new WeakMap<LabelledAgent, string>();
  readonly #attendedUntil = new Map<string, number>();

  /**
   * The request ids of slots that are free, of those that the gateway counts as free. Forgets the reservations that it has
   * seen.
   */
  usable({ agentId, requestIds, seen }: Vacancies, now: number): readonly string[] {
    const held = this.#held.get(agentId);
    if (held === undefined) return requestIds;
    for (const id of seen) held.delete(id);
    if (held.size === 0) this.#held.delete(agentId);
    let active = 0;
    for (const { end } of held.values()) if (end > now) active++;
    return requestIds.filter((id) => !held.has(id)).slice(0, Math.max(0, requestIds.length - active));
  }

  /** Shows these request ids in place of all earlier ones of the agent. */
  show(ofClass: AgentClass, shown: Vacancies, ids: readonly string[]): void {
    const { agentId } = shown;
    let vacant = this.#agents.get(agentId);
    if (vacant === undefined) {
      vacant = { shown, ofClass, ids };
      this.#agents.set(agentId, vacant);
    } else if (vacant.ofClass !== ofClass) vacant.ofClass.vacant.delete(agentId);
    vacant.shown = shown;
    vacant.ofClass = ofClass;
    this.#put(vacant, ids);
  }

  /** Reserves a vacancy for a job of this lane, of an agent for which no offer waits. */
  reserve(lane: Lane, now: number): Search {
    let answer: Promise<unknown> | undefined;
    const unsure: AgentClass[] = [];
    for (const ofClass of this.#classes.values()) {
      if (!laneMatches(lane, ofClass.agent)) continue;
      // The offers of the answer go first.
      if (ofClass.asking !== null) answer ??= ofClass.asking;
      const vacant = ofClass.asking === null ? this.#attended(ofClass, now) : undefined;
      if (vacant === undefined) continue;
      if (ofClass.isClear) return { type: "reserved", reservation: this.#take(vacant, now) };
      unsure.push(ofClass);
    }
    if (answer !== undefined) return { type: "asked", answer };
    return unsure.length > 0 ? { type: "unsure", classes: unsure } : { type: "none" };
  }

  /** Notes a reservation. `toldTo`: as in {@link Hold}. */
  hold(agentId: AgentId, requestId: string, now: number, toldTo: string | null): void {
    const held = this.#held.get(agentId) ?? new Map<string, Hold>();
    this.#held.set(agentId, held.set(requestId, { end: now + RESERVED_MS, toldTo }));
  }

  hide(agentId: AgentId, streamId: string): void {
    const vacant = this.#agents.get(agentId);
    if (vacant?.shown.streamId === streamId) this.#put(vacant, []);
  }

  /** Hides all vacancies. What was reserved stays reserved. */
  hideAll(): void {
    for (const vacant of this.#agents.values()) this.#put(vacant, []);
  }

  /** The vacancies of this attendance count from now on. Answers which of its reservations have ended, each once. */
  attend(attendanceId: string, now: number): Attendance["ended"] {
    for (const [id, until] of this.#attendedUntil) if (until <= now) this.#attendedUntil.delete(id);
    this.#attendedUntil.set(attendanceId, now + ATTENDED_MS);
    const ended: { readonly agentId: AgentId; readonly requestId: string }[] = [];
    for (const [agentId, held] of this.#held) {
      for (const [requestId, hold] of held) {
        if (hold.end + KEPT_HELD_MS <= now) held.delete(requestId);
        if (hold.end > now || hold.toldTo !== attendanceId) continue;
        hold.toldTo = null;
        ended.push({ agentId, requestId });
      }
      if (held.size === 0) this.#held.delete(agentId);
    }
    for (const [agentId, { ids }] of this.#agents) if (ids.length === 0) this.#agents.delete(agentId);
    for (const [id, { vacant, usedAt }] of this.#classes)
      if (vacant.size === 0 && usedAt + KEPT_CLASS_MS <= now) this.#classes.delete(id);
    return ended;
  }

  /** Offers of the lane may have become available. */
  announce(lane: Lane): void {
    for (const ofClass of this.#classes.values()) {
      if (!laneMatches(lane, ofClass.agent)) continue;
      ofClass.announcements++;
      ofClass.isClear = false;
    }
  }

  /** Offers may wait that were not announced. */
  doubt(): void {
    for (const ofClass of this.#classes.values()) ofClass.isClear = false;
  }

  classOf(agent: LabelledAgent, now: number): AgentClass {
    const id = this.#classIds.get(agent) ?? classOf(agent)[0];
    this.#classIds.set(agent, id);
    let found = this.#classes.get(id);
    if (found === undefined) {
      found = { agent, vacant: new Map(), announcements: 0, isClear: false, asking: null, usedAt: now };
      this.#classes.set(id, found);
    }
    found.usedAt = now;
    return found;
  }

  #attended({ vacant }: AgentClass, now: number): Vacant | undefined {
    for (const found of vacant.values()) {
      if ((this.#attendedUntil.get(found.shown.attendanceId) ?? 0) > now) return found;
    }
    return undefined;
  }

  #put(vacant: Vacant, ids: readonly string[]): void {
    vacant.ids = ids;
    const { shown, ofClass } = vacant;
    if (ids.length === 0) ofClass.vacant.delete(shown.agentId);
    // An agent that is there keeps its turn.
    else ofClass.vacant.set(shown.agentId, vacant);
  }

  #take(vacant: Vacant, now: number): Reservation {
    const { agentId, bootId, attendanceId } = vacant.shown;
    const requestId = vacant.ids[0]!;
    this.hold(agentId, requestId, now, attendanceId);
    vacant.ofClass.vacant.delete(agentId);
    this.#put(vacant, vacant.ids.slice(1));
    return { agentId, bootId, requestId, quotas: [] };
  }
}
