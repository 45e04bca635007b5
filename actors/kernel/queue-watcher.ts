/**
 * Watches the queued jobs of owned shards, and tells those that nobody has taken for long why: presence and quotas are not
 * known to actors.
 *
 * A hint that costs little: of thousands that wait, each look takes a page, and tells a bounded number of aggregates. What is told
 * was so at two looks: a moment is no reason, and after presence could not be read, or Redis was emptied, nothing is told
 * until every agent has had time to show that it lives.
 */
import { type AgentWait, agentWait } from "../../src/domain/agent-wait.ts";
import type { Clock } from "../../src/domain/clock.ts";
import type { Offer } from "../../src/domain/effects.ts";
import type { JobRunId, RootId, RunId } from "../../src/domain/ids.ts";
import type { Logger } from "../../src/domain/logger.ts";
import type { Board, Presence } from "../../src/board/board.ts";
import type { AggregateStore, JobLocation } from "../../src/stores/ports/aggregates.ts";
import { type AggregateType, kindOf } from "./actor-kind.ts";
import type { ActorMessage } from "./turn.ts";

export interface QueueWatcherOptions {
  readonly aggregates: Pick<AggregateStore, "pageQueuedJobs">;
  readonly board: Pick<Board, "find" | "quotaUse" | "size">;
  readonly presence: Pick<Presence, "online">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly typeOf: (rootId: RootId) => AggregateType;
  readonly queueCheckMs: number;
  readonly longWaitMs: number;
  /** The shards that are owned now. */
  readonly shards: () => Iterable<number>;
  readonly deliver: (shard: number, rootId: RunId, delivery: ActorMessage) => Promise<void>;
}

/** A queued job, and the shard that it is of. */
interface Queued extends JobLocation {
  readonly shard: number;
}

const JOBS_A_LOOK = 1_000;
/** Each costs a turn; more of them wait for the next look. */
const RUNS_A_LOOK = 100;
/** For how long an agent counts as online that says nothing, milliseconds. */
const ONLINE_MS = 30_000;
/** Kinds of waits that are remembered from one look to the next. */
const MAX_REMEMBERED = 10_000;

export class QueueWatcher {
  readonly #options: QueueWatcherOptions;
  /** Where the next look goes on. */
  #next: { readonly shard: number; readonly after: JobRunId | "" } = { shard: -1, after: "" };
  /** What was found at earlier looks, by what is waited for. */
  #found = new Map<string, string>();
  /** By the monotonic clock. */
  #quietUntil: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: QueueWatcherOptions) {
    this.#options = options;
    // Agents that were connected to this node, or to the installation that was, come back first.
    this.#quietUntil = options.clock.monotonic() + options.longWaitMs;
  }

  start(): void {
    const { queueCheckMs } = this.#options;
    const look = async (): Promise<void> => {
      await this.look();
      if (this.#timer !== undefined) this.#timer = setTimeout(() => void look(), queueCheckMs);
    };
    this.#timer = setTimeout(() => void look(), queueCheckMs);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Presence tells nothing until agents have been heard anew. */
  presenceLost(): void {
    this.#quietUntil = this.#options.clock.monotonic() + ONLINE_MS;
    this.#found.clear();
  }

  /** One look. Never rejects. */
  async look(): Promise<void> {
    const { board, clock, log, longWaitMs, queueCheckMs } = this.#options;
    try {
      if ((await board.size()) === 0) return;
      // One look before it is told, it is found.
      const since = clock.now() - longWaitMs + queueCheckMs;
      const found = (await this.#nextPage()).filter((job) => this.#sinceOf(job) <= since);
      if (found.length > 0) await this.#tell(found);
    } catch (error) {
      log.debug({ error: String(error) }, "queued jobs could not be looked at; the next look tries again");
      this.presenceLost();
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
      const after = shard === this.#next.shard ? this.#next.after : "";
      const room = JOBS_A_LOOK - page.length;
      const found = await this.#options.aggregates.pageQueuedJobs(shard, after, room);
      page.push(...found.map((job) => ({ ...job, shard })));
      if (found.length === room) {
        this.#next = { shard, after: found.at(-1)!.jobId };
        return page;
      }
    }
    this.#next = { shard: -1, after: "" };
    return page;
  }

  async #tell(jobs: readonly Queued[]): Promise<void> {
    const { board, clock, deliver, longWaitMs, presence, typeOf } = this.#options;
    const since = clock.now() - longWaitMs;
    const offers = new Map((await board.find(jobs.map(({ jobId }) => jobId))).map((offer) => [offer.jobId, offer]));
    const projects = [...offers.values()].map(({ projectId }) => projectId);
    const [online, quotas] = await Promise.all([presence.online(ONLINE_MS), board.quotaUse(projects)]);
    if (clock.monotonic() < this.#quietUntil) return;
    const waits = new Map<string, AgentWait | undefined>();
    const waitFor = ({ projectId, selector }: Offer): AgentWait | undefined => {
      const key = JSON.stringify([projectId, selector]);
      if (!waits.has(key)) waits.set(key, this.#confirmed(key, agentWait(selector, projectId, { online, quotas })));
      return waits.get(key);
    };
    const told = new Set<RunId>();
    const deliveries: Promise<void>[] = [];
    for (const job of jobs) {
      const { shard, runId, jobId, actor } = job;
      const offer = offers.get(jobId);
      const wait = offer && waitFor(offer);
      const before = this.#waitOf(job)?.told;
      if (wait === undefined || this.#sinceOf(job) > since) continue;
      if (before?.reason === wait.reason && before.clause === wait.clause) continue;
      if (!told.has(runId) && told.size === RUNS_A_LOOK) continue;
      told.add(runId);
      const message = typeOf(runId).waitsMessage(wait);
      deliveries.push(deliver(shard, runId, { to: { kind: actor.kind, id: jobId }, message }));
    }
    await Promise.all(deliveries);
  }

  /** What is worth telling: it was so at an earlier look too. */
  #confirmed(key: string, wait: AgentWait): AgentWait | undefined {
    const found = `${wait.reason} ${wait.clause}`;
    const isConfirmed = this.#found.get(key) === found;
    if (this.#found.size >= MAX_REMEMBERED) this.#found.clear();
    this.#found.set(key, found);
    return isConfirmed && wait.reason !== "agent" ? wait : undefined;
  }
}
