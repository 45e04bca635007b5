/** Pulling: an agent without an open channel asks for step runs and waits until there are some. */
import { isHeld, type StepState } from "../../actors/step/state.ts";
import type { JobState } from "../../actors/job/state.ts";
import type { DispatchOrder } from "../domain/effects.ts";
import { CLAIM_WAIT_MS, type ClaimDesk, claimNext } from "./claim-queue.ts";
import type { AgentBoot } from "./actor-messages.ts";
import { listenToAgent } from "../board/agent-notices.ts";
import { noAgent } from "./registration.ts";
import { orderOf } from "./reconciliation.ts";
import type { AppContext } from "../app/context.ts";
import { Signal } from "../app/signal.ts";

export interface FetchRequest extends AgentBoot {
  readonly requestId: string;
  readonly freeSlots: number;
  /** Milliseconds. */
  readonly waitMs: number;
}

interface Fetch {
  readonly orders: Promise<readonly DispatchOrder[]>;
  readonly abort: AbortController;
  callers: number;
}

export class StepFetcher {
  readonly #context: AppContext;
  readonly #desk: ClaimDesk;
  readonly #fetches = new Map<string, Fetch>();

  constructor(context: AppContext, desk: ClaimDesk) {
    this.#context = context;
    this.#desk = desk;
  }

  /**
   * The steps granted under this request id; else those of bound jobs that are queued; else, with a free slot, the
   * first step of a job that is claimed under this request id. Empty when there is none in time. A repeat that comes
   * while the first call waits waits with it, so that one request id never claims two jobs.
   */
  async fetch(request: FetchRequest, hungUp: AbortSignal): Promise<readonly DispatchOrder[]> {
    const key = JSON.stringify([request.agentId, request.bootId, request.requestId]);
    const fetch = this.#fetches.get(key) ?? this.#begin(key, request);
    fetch.callers++;
    const leave = (): void => {
      if (--fetch.callers === 0) fetch.abort.abort();
    };
    hungUp.addEventListener("abort", leave, { once: true });
    if (hungUp.aborted) leave();
    try {
      return await fetch.orders;
    } finally {
      hungUp.removeEventListener("abort", leave);
    }
  }

  #begin(key: string, request: FetchRequest): Fetch {
    const abort = new AbortController();
    const orders = this.#run(request, abort.signal).finally(() => this.#fetches.delete(key));
    const fetch = { orders, abort, callers: 0 };
    this.#fetches.set(key, fetch);
    return fetch;
  }

  async #run(request: FetchRequest, abort: AbortSignal): Promise<readonly DispatchOrder[]> {
    const { agentId, bootId, requestId } = request;
    const agent = await this.#context.stores.identity.findAgent(agentId);
    if (agent === undefined) throw noAgent(agentId);
    let { labels } = agent;
    const granted: DispatchOrder[] = [];
    const signal = new Signal();
    let claimEndsAt = -Infinity;
    const unsubscribe = await listenToAgent(this.#context, agentId, (notice) => {
      if (notice.type === "dispatch" && notice.order.bootId === bootId) granted.push(notice.order);
      else if (notice.type === "refuseClaim" && notice.requestId === requestId) claimEndsAt = -Infinity;
      else if (notice.type === "labels") labels = notice.labels;
      else return;
      signal.raise();
    });
    const freeSlots = () => (this.#desk.pauses.isPaused(agentId) ? 0 : request.freeSlots);
    const leaveDesk = this.#desk.join({
      get labels() {
        return labels;
      },
      freeSlots,
      wake: () => signal.raise(),
    });
    const now = () => this.#context.clock.monotonic();
    try {
      const saved = await this.#saved(request);
      if (saved !== undefined) return saved;
      const endsAt = now() + request.waitMs;
      while (granted.length === 0 && now() < endsAt && !abort.aborted) {
        if (freeSlots() > 0 && claimEndsAt <= now()) {
          const [offer] = await claimNext(this.#context, request, labels, [requestId]);
          if (offer !== undefined) claimEndsAt = now() + CLAIM_WAIT_MS;
        }
        const next = claimEndsAt > now() ? Math.min(claimEndsAt, endsAt) : endsAt;
        await signal.wait(Math.max(0, next - now()), abort);
      }
      return granted;
    } finally {
      leaveDesk();
      await unsubscribe();
    }
  }

  /** What the store says that the agent has to do already; undefined when it is free to claim. */
  async #saved({ agentId, bootId, requestId }: FetchRequest): Promise<readonly DispatchOrder[] | undefined> {
    const { aggregates } = this.#context.stores;
    const jobs = (await aggregates.jobsHeldBy(agentId)).map(({ actor }) => actor.state as JobState);
    const steps = (await aggregates.stepsHeldBy(agentId))
      .map(({ actor }) => actor.state as StepState)
      .filter((step) => isHeld(step) && step.grant!.bootId === bootId);
    const claimed = jobs.find(({ grant }) => grant!.requestId === requestId && grant!.bootId === bootId);
    if (claimed !== undefined) return steps.filter(({ jobId }) => jobId === claimed.jobId).map(orderOf);
    const queued = steps.filter(({ state }) => state === "queued");
    return queued.length > 0 ? queued.map(orderOf) : undefined;
  }
}
