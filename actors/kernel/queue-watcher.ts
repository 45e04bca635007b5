/**
 * Watches the queued jobs of owned shards. It tells a job that has waited long why no agent takes it, because actors
 * know neither presence nor quotas. And it has the offer of a queued job made again when the board has lost it: no agent
 * would ever find that job.
 *
 * The reason is a hint, so its cost is bounded: each check reads one page of the queued jobs, and tells a bounded
 * number of runs. A reason is told only when two checks have found it. After presence could not be read, or Redis was
 * emptied, no reason is told until every agent has had time to show that it lives.
 */
import { type AgentWait, agentWait } from "../../src/domain/agent-wait.ts";
import { type Cancel, type Clock, pause, type Timers, untilNext } from "../../src/domain/clock.ts";
import type { Offer } from "../../src/domain/effects.ts";
import type { JobRunId, RootId, RunId } from "../../src/domain/ids.ts";
import type { Logger } from "../../src/domain/logger.ts";
import type { Board, Presence } from "../../src/board/board.ts";
import type { AggregateStore, JobLocation } from "../../src/stores/ports/aggregates.ts";
import { type AggregateType, kindOf } from "./actor-kind.ts";
import type { ActorMessage } from "./turn.ts";

export interface QueueWatcherOptions {
  readonly aggregates: Pick<AggregateStore, "pageQueuedJobs">;
  readonly board: Pick<Board, "find" | "quotaUse" | "size" | "tenantsOf">;
  readonly presence: Pick<Presence, "online">;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Logger;
  readonly typeOf: (rootId: RootId) => AggregateType;
  readonly queueCheckMs: number;
  readonly longWaitMs: number;
  /** The shards that are owned now. */
  readonly shards: () => Iterable<number>;
  readonly deliver: (shard: number, rootId: RunId, message: ActorMessage) => Promise<void>;
  /** Tells Redis again all that it must hold for the run, its offers among it. */
  readonly refresh: (shard: number, rootId: RunId) => Promise<void>;
}

/** A queued job with its shard. */
interface Queued extends JobLocation {
  readonly shard: number;
}

const JOBS_PER_CHECK = 1_000;
const JOBS_PER_READ = 100;
/** A check holds the event loop no longer than this at a time: with thousands of agents it takes a tenth of a second in all. */
const PIECE_MS = 5;
/** Each run costs a turn; further runs wait for the next check. */
const RUNS_PER_CHECK = 100;
/**
 * While the board is empty, one check out of this many reads the queued jobs all the same: an empty board has either
 * nothing to offer, or has lost everything.
 */
const EMPTY_BOARD_CHECKS = 15;
/** How long an agent without a beat counts as online, milliseconds. */
const ONLINE_MS = 30_000;
/** Pairs of project and selector whose reasons are remembered from one check to the next. */
const MAX_REMEMBERED = 10_000;

export class QueueWatcher {
  readonly #options: QueueWatcherOptions;
  /** Where the next check continues. */
  #next: { readonly shard: number; readonly after: JobRunId | "" } = { shard: -1, after: "" };
  /** The reason that an earlier check found, by project and selector. */
  #found = new Map<string, string>();
  /** Queued jobs for which the last look at them found no offer. */
  readonly #withoutOffer = new Set<JobRunId>();
  /** Checks in a row that found the board empty. */
  #emptyChecks = 0;
  /** Until when no reason is told, monotonic milliseconds. */
  #silentUntil: number;
  /** When other work may go on before the check does, monotonic milliseconds. */
  #pieceEndsAt = 0;
  /** Cancels the next check; undefined while no checks are made. */
  #cancelCheck: Cancel | undefined;

  constructor(options: QueueWatcherOptions) {
    this.#options = options;
    // After a restart, agents need this time to connect again.
    this.#silentUntil = options.clock.monotonic() + options.longWaitMs;
  }

  start(): void {
    const { clock, queueCheckMs, timers } = this.#options;
    const next = () => timers.after(untilNext(queueCheckMs, clock.monotonic()), () => void check());
    const check = async (): Promise<void> => {
      await this.check();
      if (this.#cancelCheck !== undefined) this.#cancelCheck = next();
    };
    this.#cancelCheck = next();
  }

  stop(): void {
    this.#cancelCheck?.();
    this.#cancelCheck = undefined;
  }

  /** After presence was lost: tells no reason until every agent has had time for a beat. */
  forgetPresence(): void {
    this.#silentUntil = this.#options.clock.monotonic() + ONLINE_MS;
    this.#found.clear();
  }

  /** Checks one page of queued jobs. Never rejects. */
  async check(): Promise<void> {
    const { board, clock, log, longWaitMs, queueCheckMs } = this.#options;
    this.#pieceEndsAt = clock.monotonic() + PIECE_MS;
    try {
      this.#emptyChecks = (await board.size()) === 0 ? this.#emptyChecks + 1 : 0;
      const isTurn = this.#emptyChecks % EMPTY_BOARD_CHECKS === 0 || this.#withoutOffer.size > 0;
      if (!isTurn) return;
      // A job is looked at one check before its reason is told, so that two checks have found the reason by then.
      const since = clock.now() - longWaitMs + queueCheckMs;
      const jobs = (await this.#nextPage()).filter((job) => this.#sinceOf(job) <= since);
      if (jobs.length === 0) this.#withoutOffer.clear();
      const offers = new Map((await board.find(jobs.map(({ jobId }) => jobId))).map((offer) => [offer.jobId, offer]));
      await this.#renewOffers(jobs, offers);
      if (offers.size > 0) await this.#reportWaits(jobs, offers);
    } catch (error) {
      log.debug({ error: String(error) }, "queued jobs could not be checked; the next check tries again");
      this.forgetPresence();
    }
  }

  #waitOf({ runId, actor }: JobLocation) {
    return kindOf(this.#options.typeOf(runId), actor.kind).waitsForAgent(actor.state as never);
  }

  #sinceOf(job: JobLocation): number {
    return this.#waitOf(job)?.since ?? Infinity;
  }

  async #nextPage(): Promise<readonly Queued[]> {
    const shards = [...this.#options.shards()].filter((shard) => shard >= this.#next.shard).toSorted((a, b) => a - b);
    const page: Queued[] = [];
    for (const shard of shards) {
      let after = shard === this.#next.shard ? this.#next.after : "";
      for (let isMore = true; isMore;) {
        await this.#letOthersWork();
        const most = Math.min(JOBS_PER_READ, JOBS_PER_CHECK - page.length);
        const found = await this.#options.aggregates.pageQueuedJobs(shard, after, most);
        page.push(...found.map((job) => ({ ...job, shard })));
        after = found.at(-1)?.jobId ?? "";
        isMore = found.length === most;
        if (isMore && page.length === JOBS_PER_CHECK) {
          this.#next = { shard, after };
          return page;
        }
      }
    }
    this.#next = { shard: -1, after: "" };
    return page;
  }

  async #letOthersWork(): Promise<void> {
    const { clock, timers } = this.#options;
    if (clock.monotonic() < this.#pieceEndsAt) return;
    await pause(timers, 0);
    this.#pieceEndsAt = clock.monotonic() + PIECE_MS;
  }

  /** Has the offers made again that neither this look at their jobs nor the last one has found. */
  async #renewOffers(jobs: readonly Queued[], offers: ReadonlyMap<JobRunId, Offer>): Promise<void> {
    const { refresh, log } = this.#options;
    const lost = new Map<RunId, number>();
    for (const { runId, jobId, shard } of jobs) {
      if (offers.has(jobId) || (this.#withoutOffer.has(jobId) && lost.size < RUNS_PER_CHECK)) {
        if (!offers.has(jobId)) lost.set(runId, shard);
        this.#withoutOffer.delete(jobId);
      } else if (this.#withoutOffer.size < MAX_REMEMBERED) this.#withoutOffer.add(jobId);
    }
    if (lost.size === 0) return;
    log.warn({ runs: lost.size }, "queued jobs have no offer on the board: it is made again");
    await Promise.all(Array.from(lost, ([runId, shard]) => refresh(shard, runId)));
  }

  async #reportWaits(jobs: readonly Queued[], offers: ReadonlyMap<JobRunId, Offer>): Promise<void> {
    const { board, clock, deliver, longWaitMs, presence, typeOf } = this.#options;
    const since = clock.now() - longWaitMs;
    const projects = [...offers.values()].map(({ projectId }) => projectId);
    const [online, quotas, tenants] = await Promise.all([
      presence.online(ONLINE_MS),
      board.quotaUse(projects),
      board.tenantsOf(projects),
    ]);
    if (clock.monotonic() < this.#silentUntil) return;
    const waits = new Map<string, AgentWait | undefined>();
    const waitFor = ({ projectId, selector }: Offer): AgentWait | undefined => {
      const key = JSON.stringify([projectId, selector]);
      if (!waits.has(key))
        waits.set(key, this.#confirmed(key, agentWait(selector, projectId, { online, quotas, tenants })));
      return waits.get(key);
    };
    const informed = new Set<RunId>();
    const deliveries: Promise<void>[] = [];
    for (const job of jobs) {
      const { shard, runId, jobId, actor } = job;
      const offer = offers.get(jobId);
      await this.#letOthersWork();
      const wait = offer && waitFor(offer);
      const before = this.#waitOf(job)?.reported;
      if (wait === undefined || this.#sinceOf(job) > since) continue;
      if (before?.reason === wait.reason && before.clause === wait.clause) continue;
      if (!informed.has(runId) && informed.size === RUNS_PER_CHECK) continue;
      informed.add(runId);
      const message = typeOf(runId).waitsMessage(wait);
      deliveries.push(deliver(shard, runId, { to: { kind: actor.kind, id: jobId }, message }));
    }
    await Promise.all(deliveries);
  }

  /**
   * The reason when it is worth telling: an earlier check has found the same, and it says more than "waits for an
   * agent".
   */
  #confirmed(key: string, wait: AgentWait): AgentWait | undefined {
    const found = `${wait.reason} ${wait.clause}`;
    const isConfirmed = this.#found.get(key) === found;
    if (this.#found.size >= MAX_REMEMBERED) this.#found.clear();
    this.#found.set(key, found);
    return isConfirmed && wait.reason !== "agent" ? wait : undefined;
  }
}
