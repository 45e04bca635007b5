/**
 * Fetches step runs for agents that pull: an agent without an open channel asks for step runs and waits until there are
 * some.
 */
import { isHeld, type StepState } from "../../actors/step/state.ts";
import type { JobState } from "../../actors/job/state.ts";
import type { Timers } from "../domain/clock.ts";
import type { GrantedStep } from "../domain/effects.ts";
import type { ClaimQueue } from "./claim-queue.ts";
import { labelledAgent } from "../domain/labels.ts";
import { isDrained } from "../stores/ports/identity.ts";
import { PendingClaims } from "./pending-claims.ts";
import { listenToAgent, relabelled } from "../board/agent-notices.ts";
import { tokenRevoked } from "./registration.ts";
import { toGrantedStep } from "./reconciliation.ts";
import type { GatewayPorts } from "./context.ts";
import { Signal } from "../app/signal.ts";
import { type AgentBoot, agentNotRegistered } from "../app/agents/agent-removal.ts";

export interface FetchRequest extends AgentBoot {
  readonly requestId: string;
  readonly freeSlots: number;
  /** How long to wait for a step run, milliseconds. */
  readonly waitMs: number;
}

/** One fetch, which all calls with the same request id share. */
interface Fetch {
  readonly steps: Promise<readonly GrantedStep[]>;
  readonly abort: AbortController;
  callers: number;
}

/** Without timers, a fetch uses those of the process. */
type FetcherContext = GatewayPorts & {
  readonly timers?: Timers;
  readonly claimQueue: ClaimQueue;
  readonly newUuid: () => string;
};

export class StepFetcher {
  readonly #context: FetcherContext;
  readonly #fetches = new Map<string, Fetch>();

  constructor(context: FetcherContext) {
    this.#context = context;
  }

  /**
   * Answers the steps that are granted under this request id; else the queued steps of jobs that are bound to the
   * agent; else, with a free slot, the first step of a job that is claimed under this request id. Empty when there is
   * none in time. A repeat during the first call shares its fetch, so that one request id never claims two jobs.
   */
  async fetch(request: FetchRequest, hungUp: AbortSignal): Promise<readonly GrantedStep[]> {
    const key = JSON.stringify([request.agentId, request.bootId, request.requestId]);
    const fetch = this.#fetches.get(key) ?? this.#begin(key, request);
    fetch.callers++;
    const leave = (): void => {
      if (--fetch.callers === 0) fetch.abort.abort();
    };
    hungUp.addEventListener("abort", leave, { once: true });
    if (hungUp.aborted) leave();
    try {
      return await fetch.steps;
    } finally {
      hungUp.removeEventListener("abort", leave);
    }
  }

  #begin(key: string, request: FetchRequest): Fetch {
    const abort = new AbortController();
    const steps = this.#run(request, abort.signal).finally(() => this.#fetches.delete(key));
    const fetch = { steps, abort, callers: 0 };
    this.#fetches.set(key, fetch);
    return fetch;
  }

  async #run(request: FetchRequest, abort: AbortSignal): Promise<readonly GrantedStep[]> {
    const { agentId, bootId, requestId } = request;
    const agent = await this.#context.stores.identity.findAgent(agentId);
    if (agent === undefined) throw agentNotRegistered(agentId);
    let labelled = labelledAgent(agent);
    let takesNone = isDrained(agent);
    const granted: GrantedStep[] = [];
    const signal = new Signal(this.#context.timers);
    let isRevoked = false;
    const { claimQueue, newUuid } = this.#context;
    const claims = new PendingClaims(
      this.#context,
      { agentId, bootId },
      {
        streamId: newUuid(),
        newId: () => requestId,
        onSettled: () => signal.raise(),
      },
    );
    const unsubscribe = await listenToAgent(this.#context, agentId, (notice) => {
      if (notice.type === "dispatch" && notice.order.bootId === bootId) {
        granted.push(notice.order);
        claims.granted(notice.order.requestId);
        signal.raise();
      } else if (notice.type === "refuseClaim") {
        claims.settle(notice.requestId);
      } else if (notice.type === "superseded" && notice.by === "") {
        isRevoked = true;
        signal.raise();
      } else if (notice.type === "drain") {
        takesNone = notice.isDrained;
        if (takesNone) claims.hide();
        signal.raise();
      } else if (notice.type === "labels") {
        labelled = relabelled(labelled, notice);
        signal.raise();
      }
    });
    const freeSlots = () => (takesNone || claimQueue.pauses.isPaused(agentId) ? 0 : request.freeSlots);
    const leaveQueue = claimQueue.join({
      agentId,
      claims,
      get agent() {
        return labelled;
      },
      freeSlots,
      wake: () => signal.raise(),
    });
    const now = () => this.#context.clock.monotonic();
    try {
      const stored = await this.#storedSteps(request);
      if (stored !== undefined) return stored;
      const endsAt = now() + request.waitMs;
      while (granted.length === 0 && now() < endsAt && !abort.aborted && !isRevoked) {
        if (freeSlots() > 0 && claims.count === 0) await claims.claim(labelled, 1);
        await signal.wait(Math.max(0, endsAt - now()), abort);
      }
      if (isRevoked) throw tokenRevoked();
      return granted;
    } finally {
      claims.close();
      leaveQueue();
      await unsubscribe();
    }
  }

  /** The steps that the agent has to run already according to the store; undefined when the agent may claim a job. */
  async #storedSteps({ agentId, bootId, requestId }: FetchRequest): Promise<readonly GrantedStep[] | undefined> {
    const { aggregates } = this.#context.stores;
    // At once: each read waits a moment for others that share its command.
    const [jobs, steps] = await Promise.all([aggregates.jobsHeldBy(agentId), this.#heldSteps({ agentId, bootId })]);
    const claimed = jobs
      .map(({ actor }) => actor.state as JobState)
      .find(({ grant }) => grant!.requestId === requestId && grant!.bootId === bootId);
    if (claimed === undefined) {
      const queued = steps.filter(({ state }) => state === "queued");
      return queued.length > 0 ? queued.map(toGrantedStep) : undefined;
    }
    const isOfClaim = ({ jobId }: StepState) => jobId === claimed.jobId;
    // The steps may have been read before the grant was saved, and the job afterwards.
    const known = steps.some(isOfClaim) ? steps : await this.#heldSteps({ agentId, bootId });
    return known.filter(isOfClaim).map(toGrantedStep);
  }

  async #heldSteps({ agentId, bootId }: AgentBoot): Promise<readonly StepState[]> {
    const found = await this.#context.stores.aggregates.stepsHeldBy(agentId);
    return found
      .map(({ actor }) => actor.state as StepState)
      .filter((step) => isHeld(step) && step.grant!.bootId === bootId);
  }
}
