/** A copy of the classes of agents that show vacancies, searched by selector. */
import { createHash } from "node:crypto";
import type { LabelledAgent } from "../domain/labels.ts";
import { type Lane, laneMatches } from "./board.ts";

/** Classes that one search names. With more, the searches take turns through them. */
const CLASSES_AT_ONCE = 64;
/**
 * After a search without a vacancy, none is made for this long: on an installation whose agents are all busy, a search
 * would make each trigger slower for nothing.
 */
const MISS_MS = 10;
const MAX_REMEMBERED = 1_000;

export interface AgentClass {
  readonly id: string;
  readonly agent: LabelledAgent;
}

interface Search {
  readonly matching: readonly AgentClass[];
  /** Where the next search begins. */
  next: number;
  /** When the last search found nothing, monotonic milliseconds. */
  missedAt: number;
}

/** The class of agents with these labels and this reach, and its description. */
export function classOf({ labels, trusted = [], reach }: LabelledAgent): readonly [id: string, description: string] {
  const sorted = Object.fromEntries(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const description = JSON.stringify({ labels: sorted, trusted: trusted.toSorted(), reach });
  return [createHash("sha256").update(description).digest("base64url").slice(0, 22), description];
}

export class VacancyClasses {
  #version = "";
  #areSomeBound = false;
  #classes: readonly AgentClass[] = [];
  readonly #searches = new Map<string, Search>();

  get version(): string {
    return this.#version;
  }

  /** Takes the classes over from the answer of a script: pairs of id and description. */
  update(version: string, pairs: readonly string[]): void {
    const classes: AgentClass[] = [];
    for (let at = 0; at < pairs.length; at += 2) {
      classes.push({ id: pairs[at]!, agent: JSON.parse(pairs[at + 1]!) as LabelledAgent });
    }
    this.#version = version;
    this.#classes = classes;
    this.#areSomeBound = classes.some(({ agent }) => agent.reach !== undefined);
    this.#searches.clear();
  }

  /** Classes whose agents may take the lane; undefined when a search has found no vacancy a moment ago. */
  find(lane: Lane, now: number): readonly AgentClass[] | undefined {
    const search = this.#searchOf(lane);
    const { matching, next, missedAt } = search;
    if (now - missedAt < MISS_MS) return undefined;
    if (matching.length <= CLASSES_AT_ONCE) return matching;
    search.next = (next + CLASSES_AT_ONCE) % matching.length;
    return [...matching.slice(next), ...matching.slice(0, next)].slice(0, CLASSES_AT_ONCE);
  }

  /** Notes that a search for this lane has found no vacancy. */
  missed(lane: Lane, now: number): void {
    this.#searchOf(lane).missedAt = now;
  }

  #searchOf(lane: Lane): Search {
    // Projects share their searches while no agent is bound to some of them.
    const key = JSON.stringify([lane.selector, ...(this.#areSomeBound ? [lane.projectId, lane.tenantId] : [])]);
    const known = this.#searches.get(key);
    if (known !== undefined) return known;
    if (this.#searches.size >= MAX_REMEMBERED) this.#searches.clear();
    const matching = this.#classes.filter(({ agent }) => laneMatches(lane, agent));
    const search: Search = { matching, next: 0, missedAt: -Infinity };
    this.#searches.set(key, search);
    return search;
  }
}
