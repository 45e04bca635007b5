/**
 * The data of the board in a simulated Redis: what the scripts of src/board/board-scripts.ts do, each as one method.
 * Lanes only make the board fast, so there are none here.
 */
import type { Places, TakenOffer } from "../../../src/board/board.ts";
import { WITHDRAWN_FOR_MS } from "../../../src/board/board-scripts.ts";
import { PLACE_MS } from "../../../src/board/board.ts";
import type { Offer } from "../../../src/domain/effects.ts";
import type { JobRunId, ProjectId } from "../../../src/domain/ids.ts";
import { type LabelledAgent, selectorMatches } from "../../../src/domain/labels.ts";
import {
  agentQuotas,
  labelQuotas,
  projectQuotas,
  type Quota,
  type Quotas,
  type QuotaUse,
} from "../../../src/domain/quotas.ts";

interface Kept {
  readonly offer: Offer;
  /** Until when the offer is taken; null while it is available. */
  takenUntil: number | null;
}

export class Offers {
  readonly #now: () => number;
  readonly #offers = new Map<JobRunId, Kept>();
  /** Withdrawn offers by the time at which they are forgotten. */
  readonly #withdrawn = new Map<string, number>();
  /** Projects by a number that grows each time one is served. */
  readonly #served = new Map<ProjectId, number>();
  #servings = 0;
  /** Jobs by the time at which their places expire, by quota. */
  readonly #places = new Map<string, Map<JobRunId, number>>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** True when the offer has become available. */
  offer(offer: Offer): boolean {
    this.#returnExpired();
    if ((this.#withdrawn.get(`${offer.jobId} ${offer.queuedAt}`) ?? 0) > this.#now()) return false;
    const kept = this.#offers.get(offer.jobId);
    const age = kept === undefined ? -1 : kept.offer.queuedAt - offer.queuedAt;
    if (age > 0 || (age === 0 && kept!.takenUntil === null)) return false;
    this.#offers.set(offer.jobId, { offer: age === 0 ? kept!.offer : offer, takenUntil: null });
    return true;
  }

  withdraw(jobId: JobRunId, queuedAt: number | undefined): void {
    if (queuedAt !== undefined) this.#withdrawn.set(`${jobId} ${queuedAt}`, this.#now() + WITHDRAWN_FOR_MS);
    const kept = this.#offers.get(jobId);
    if (kept === undefined || (queuedAt !== undefined && kept.offer.queuedAt > queuedAt)) return;
    this.#offers.delete(jobId);
  }

  take(quotas: Quotas, agent: LabelledAgent, holdMs: number, count: number): readonly TakenOffer[] {
    this.#returnExpired();
    const ofAgent = agentQuotas(quotas, agent.labels);
    const taken: TakenOffer[] = [];
    while (taken.length < count && ofAgent.every((quota) => this.#hasRoom(quota))) {
      const best = this.#best(quotas, agent);
      if (best === undefined) break;
      const { offer } = best;
      best.takenUntil = this.#now() + holdMs;
      this.#served.set(offer.projectId, ++this.#servings);
      const names = [...ofAgent, ...projectQuotas(quotas, offer.projectId)].map(({ name }) => name);
      this.#keep({ jobId: offer.jobId, quotas: names }, holdMs);
      taken.push({ ...offer, quotas: names });
    }
    return taken;
  }

  /** True when an offer waits that the agent could take. */
  waitsFor(agent: LabelledAgent): boolean {
    this.#returnExpired();
    return [...this.#offers.values()].some(
      ({ offer, takenUntil }) => takenUntil === null && selectorMatches(offer.selector, agent),
    );
  }

  /** Takes a place for the job in each quota. False, and nothing is taken, when one of them has no room. */
  takePlaces({ jobId, projectId }: Offer, quotas: readonly Quota[], ms: number): boolean {
    if (!quotas.every((quota) => this.#hasRoom(quota))) return false;
    this.#keep({ jobId, quotas: quotas.map(({ name }) => name) }, ms);
    this.#served.set(projectId, ++this.#servings);
    return true;
  }

  countTurns(projectIds: readonly ProjectId[]): void {
    for (const projectId of projectIds) this.#served.set(projectId, ++this.#servings);
  }

  occupy(places: readonly Places[]): void {
    for (const place of places) this.#keep(place, PLACE_MS);
  }

  vacate({ jobId, quotas }: Places): void {
    for (const name of quotas) this.#places.get(name)?.delete(jobId);
  }

  quotaUse(quotas: Quotas, projectIds: readonly ProjectId[]): readonly QuotaUse[] {
    const ofProjects = [...new Set(projectIds)].flatMap((id) => projectQuotas(quotas, id));
    return [...ofProjects, ...labelQuotas(quotas)].map((quota) => ({
      ...quota,
      taken: this.#placesOf(quota.name).size,
    }));
  }

  find(jobIds: readonly JobRunId[]): readonly Offer[] {
    return jobIds.flatMap((jobId) => this.#offers.get(jobId)?.offer ?? []);
  }

  get size(): number {
    return this.#offers.size;
  }

  /** All offers, for the judge. */
  all(): readonly Offer[] {
    return Array.from(this.#offers.values(), ({ offer }) => offer);
  }

  /** All jobs that have a place, for the judge. */
  occupants(): ReadonlySet<JobRunId> {
    return new Set([...this.#places.keys()].flatMap((name) => [...this.#placesOf(name).keys()]));
  }

  empty(): void {
    this.#offers.clear();
    this.#withdrawn.clear();
    this.#served.clear();
    this.#places.clear();
  }

  #best(quotas: Quotas, agent: LabelledAgent): Kept | undefined {
    let best: Kept | undefined;
    for (const kept of this.#offers.values()) {
      const { offer, takenUntil } = kept;
      if (takenUntil !== null || !selectorMatches(offer.selector, agent)) continue;
      if (!projectQuotas(quotas, offer.projectId).every((quota) => this.#hasRoom(quota))) continue;
      if (best === undefined || this.#goesBefore(offer, best.offer)) best = kept;
    }
    return best;
  }

  #goesBefore(a: Offer, b: Offer): boolean {
    if (a.priority !== b.priority) return a.priority > b.priority;
    const turns = (this.#served.get(a.projectId) ?? 0) - (this.#served.get(b.projectId) ?? 0);
    return turns === 0 ? a.queuedAt < b.queuedAt : turns < 0;
  }

  #hasRoom({ name, limit }: Quota): boolean {
    return this.#placesOf(name).size < limit;
  }

  #placesOf(name: string): Map<JobRunId, number> {
    const places = this.#places.get(name) ?? new Map<JobRunId, number>();
    for (const [jobId, until] of places) if (until <= this.#now()) places.delete(jobId);
    return places;
  }

  #keep({ jobId, quotas }: Places, ms: number): void {
    for (const name of quotas) {
      const places = this.#placesOf(name);
      places.set(jobId, Math.max(places.get(jobId) ?? 0, this.#now() + ms));
      this.#places.set(name, places);
    }
  }

  #returnExpired(): void {
    for (const kept of this.#offers.values()) {
      if (kept.takenUntil !== null && kept.takenUntil <= this.#now()) kept.takenUntil = null;
    }
  }
}
