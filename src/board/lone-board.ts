/**
 * The board of a node that may be alone. While no other node lives, the vacancies of its agents stay in this process
 * (lone-vacancies.ts): no other edge could reserve them. So a run gets its slots without a call to Redis, and a slot that
 * the end of a job frees is there for the next run at once. Offers are on Redis always, where an owner that takes over finds
 * them. With quotas, whose places are counted in Redis, vacancies stand there too.
 */
import type { Clock } from "../domain/clock.ts";
import type { Offer } from "../domain/effects.ts";
import type { AgentId, JobRunId, ProjectId, TenantId } from "../domain/ids.ts";
import type { LabelledAgent } from "../domain/labels.ts";
import { hasQuotas, type Quotas, type QuotaUse } from "../domain/quotas.ts";
import type { Attendance, Board, Lane, Places, Reservation, SharedBoard, TakenOffer, Vacancies } from "./board.ts";
import { type AgentClass, LoneVacancies } from "./lone-vacancies.ts";

/** Projects whose turns are remembered until the board knows of them. */
const MAX_TURNS = 1_000;

export interface LoneBoardOptions {
  readonly shared: SharedBoard;
  /** True while certainly no other node lives. */
  readonly isAlone: () => boolean;
  readonly clock: Pick<Clock, "monotonic">;
  /** Those that count now. */
  readonly quotas: () => Quotas;
}

export class LoneBoard implements Board {
  readonly #shared: SharedBoard;
  readonly #isAlone: () => boolean;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #quotas: () => Quotas;
  readonly #here = new LoneVacancies();
  /** The vacancies of the present attendance stay in this process. */
  #isKept = false;
  /** Streams whose vacancies stand on the shared board. */
  readonly #onShared = new Map<AgentId, string>();
  /** Projects that were served here, and not on the shared board; the last one was served last. */
  readonly #turns = new Set<ProjectId>();

  constructor({ shared, isAlone, clock, quotas }: LoneBoardOptions) {
    this.#shared = shared;
    this.#isAlone = isAlone;
    this.#clock = clock;
    this.#quotas = quotas;
  }

  async offer(offer: Offer): Promise<void> {
    // At once: what is announced comes back from Redis later, and an offer goes before a new job.
    if (this.#isKept) this.#here.announce(await this.#laneOf(offer));
    await this.#shared.offer(offer);
  }

  async take(
    agent: LabelledAgent,
    holdMs: number,
    count: number,
    vacancies?: Vacancies,
  ): Promise<readonly TakenOffer[]> {
    if (vacancies === undefined) return this.#takeShared(agent, holdMs, count);
    const now = this.#clock.monotonic();
    const ids = this.#here.usable(vacancies, now);
    const wanted = Math.min(count, ids.length);
    if (!this.#isKept) {
      this.#onShared.set(vacancies.agentId, vacancies.streamId);
      return this.#takeShared(agent, holdMs, wanted, Object.assign({}, vacancies, { requestIds: ids }));
    }
    const former = this.#onShared.get(vacancies.agentId);
    if (former !== undefined) await this.#leaveShared(vacancies.agentId, former);
    const ofClass = this.#here.classOf(agent, now);
    if (wanted === 0 || ofClass.isClear) {
      this.#here.show(ofClass, vacancies, ids);
      return [];
    }
    const { announcements } = ofClass;
    const answer = this.#takeShared(agent, holdMs, wanted);
    ofClass.asking = answer;
    let offers: readonly TakenOffer[];
    try {
      offers = await answer;
    } finally {
      if (ofClass.asking === answer) ofClass.asking = null;
    }
    if (offers.length < wanted && ofClass.announcements === announcements) ofClass.isClear = true;
    this.#here.show(ofClass, vacancies, ids.slice(offers.length));
    return offers.map((offer, at) => Object.assign({}, offer, { vacancy: ids[at]! }));
  }

  async reserve(offer: Offer): Promise<Reservation | undefined> {
    // Without a sign of Redis for a while, the node does not count as alone. A dispatch would not leave it then.
    if (!this.#isKept || !this.#isAlone() || hasQuotas(this.#quotas())) {
      const reservation = await this.#shared.reserve(offer);
      // The gateway of this process may show the slot here before it has heard of the grant.
      if (reservation !== undefined && this.#onShared.has(reservation.agentId)) {
        this.#here.hold(reservation.agentId, reservation.requestId, this.#clock.monotonic(), null);
      }
      return reservation;
    }
    const lane = await this.#laneOf(offer);
    const search = () => this.#here.reserve(lane, this.#clock.monotonic());
    let found = search();
    if (found.type === "asked") {
      await found.answer.catch(() => undefined);
      found = search();
    }
    if (found.type === "unsure" && (await this.#clear(found.classes))) found = search();
    if (found.type !== "reserved") return undefined;
    this.#countTurn(offer.projectId);
    return found.reservation;
  }

  async hide(agentId: AgentId, streamId: string): Promise<void> {
    this.#here.hide(agentId, streamId);
    if (this.#onShared.get(agentId) === streamId) await this.#leaveShared(agentId, streamId);
  }

  async attend(attendanceId: string, isNew = false): Promise<Attendance> {
    if (isNew && this.#mayKeep() !== this.#isKept) {
      this.#isKept = !this.#isKept;
      this.#here.hideAll();
    }
    const { offers, ...attendance } = await this.#shared.attend(attendanceId, isNew);
    // An offer that was taken may have come back, and an announcement may have been lost.
    if (offers > 0) this.#here.doubt();
    // In the next attendance, the vacancies are shown where they belong now.
    const lasts = attendance.lasts && this.#mayKeep() === this.#isKept;
    const here = lasts ? this.#here.attend(attendanceId, this.#clock.monotonic()) : [];
    return { lasts, offers, ended: [...attendance.ended, ...here] };
  }

  async onOffered(listener: (lane: Lane, count: number) => void): Promise<() => Promise<void>> {
    return this.#shared.onOffered((lane, count) => {
      this.#here.announce(lane);
      listener(lane, count);
    });
  }

  withdraw(jobId: JobRunId, queuedAt?: number): Promise<void> {
    return this.#shared.withdraw(jobId, queuedAt);
  }

  occupy(places: readonly Places[]): Promise<void> {
    return this.#shared.occupy(places);
  }

  vacate(places: Places): Promise<void> {
    return this.#shared.vacate(places);
  }

  quotaUse(projectIds: readonly ProjectId[]): Promise<readonly QuotaUse[]> {
    return this.#shared.quotaUse(projectIds);
  }

  tenantsOf(projectIds: readonly ProjectId[]): Promise<ReadonlyMap<ProjectId, TenantId>> {
    return this.#shared.tenantsOf(projectIds);
  }

  find(jobIds: readonly JobRunId[]): Promise<readonly Offer[]> {
    return this.#shared.find(jobIds);
  }

  size(): Promise<number> {
    return this.#shared.size();
  }

  /** Asks whether offers wait for agents of these classes. False when some wait for each of them. */
  async #clear(classes: readonly AgentClass[]): Promise<boolean> {
    let isOneClear = false;
    for (const ofClass of classes) {
      const { announcements } = ofClass;
      if (await this.#shared.waitsFor(ofClass.agent)) continue;
      if (ofClass.announcements === announcements) ofClass.isClear = isOneClear = true;
    }
    return isOneClear;
  }

  #mayKeep(): boolean {
    return this.#isAlone() && !hasQuotas(this.#quotas());
  }

  async #laneOf({ projectId, priority, selector }: Offer): Promise<Lane> {
    const tenantId = (await this.#shared.tenantsOf([projectId])).get(projectId);
    return tenantId === undefined ? { projectId, priority, selector } : { projectId, tenantId, priority, selector };
  }

  #takeShared(...call: Parameters<Board["take"]>): ReturnType<Board["take"]> {
    if (this.#turns.size > 0) {
      // If this fails, some projects are served once more before others.
      this.#shared.countTurns([...this.#turns]).catch(() => undefined);
      this.#turns.clear();
    }
    return this.#shared.take(...call);
  }

  async #leaveShared(agentId: AgentId, streamId: string): Promise<void> {
    await this.#shared.hide(agentId, streamId);
    if (this.#onShared.get(agentId) === streamId) this.#onShared.delete(agentId);
  }

  #countTurn(projectId: ProjectId): void {
    this.#turns.delete(projectId);
    this.#turns.add(projectId);
    if (this.#turns.size > MAX_TURNS) this.#turns.delete(this.#turns.values().next().value!);
  }
}
