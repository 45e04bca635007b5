/**
 * Fetches step runs for agents that pull: an agent without an open channel asks for step runs and waits until there are
 * some.
 */
import { isHeld, type StepState } from "../../actors/step/state.ts";
import type { JobState } from "../../actors/job/state.ts";
import type { GrantedStep } from "../domain/effects.ts";
import { listenToAgent } from "../board/agent-notices.ts";
import { toGrantedStep } from "./reconciliation.ts";
import { type FetchContext, type FetchRequest, WaitingFetch } from "./waiting-fetch.ts";
import { type AgentBoot, agentNotRegistered } from "../app/agents/agent-removal.ts";

/** One fetch, which all calls with the same request id share. */
interface Fetch {
  readonly steps: Promise<readonly GrantedStep[]>;
  readonly abort: AbortController;
  callers: number;
}

export class StepFetcher {
  readonly #context: FetchContext;
  readonly #fetches = new Map<string, Fetch>();

  constructor(context: FetchContext) {
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
    const { agentId } = request;
    const agent = await this.#context.stores.identity.findAgent(agentId);
    if (agent === undefined) throw agentNotRegistered(agentId);
    const waiting = new WaitingFetch(this.#context, request, agent);
    const unsubscribe = await listenToAgent(this.#context, agentId, (notice) => waiting.hear(notice));
    const leaveQueue = this.#context.claimQueue.join(waiting);
    try {
      return (await this.#storedSteps(request)) ?? (await waiting.grants(abort));
    } finally {
      waiting.claims.close();
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
