/** Triggers runs of an installation, waits for their ends, and checks that each of their steps ran once. */
import { setTimeout as pause } from "node:timers/promises";
import { until } from "../../test/support/until.ts";
import { asId, jobRunId, type RunId, stepRunId } from "../../src/domain/ids.ts";
import { FINAL_RUN_STATUSES, type RunStatus } from "../../src/domain/status.ts";
import { expectOnce, type StepCounts } from "../measure/step-counts.ts";
import type { Figure } from "../system.ts";
import type { Installation } from "./installation.ts";

export interface Job {
  readonly steps: readonly object[];
  /** The labels that an agent must have; none by default. */
  readonly labels?: Readonly<Record<string, string>>;
}

export interface Pipeline {
  readonly id: string;
  readonly jobs: readonly Job[];
}

/** A run as lists show it. */
interface ListedRun {
  readonly runId: string;
  readonly status: RunStatus;
  readonly endTime: string | null;
}

interface Waiter {
  readonly until: number;
  resolve(run: ListedRun): void;
  reject(error: Error): void;
}

/** The query that finds the ends of runs: one list of the newest runs serves all waiting callers. */
const LIST = "pageSize=100";
const POLL_MS = 25;
const TIMEOUT_MS = 60_000;
const LOG_MS = 5_000;
const SHOWN_DETAIL_CHARS = 2_000;

export const NO_OP = { uses: "shell", args: { command: "true" } };

export class Runs {
  readonly #installation: Installation;
  readonly #waiters = new Map<string, Map<string, Waiter>>();
  readonly #expectedSteps: string[] = [];
  #pipelines = 0;

  constructor(installation: Installation) {
    this.#installation = installation;
  }

  async pipeline(jobs: readonly Job[]): Promise<Pipeline> {
    const { api } = this.#installation;
    const name = `bench-${process.hrtime.bigint()}-${this.#pipelines++}`;
    const { pipelineId: id } = await api.call<{ pipelineId: string }>("POST", "/pipelines", { name });
    const spec = {
      jobs: jobs.map(({ steps, labels = {} }, index) => ({
        name: `job-${index}`,
        agentSelector: { matchLabels: labels },
        steps: steps.map((step, at) => ({ ...step, name: `step-${at}` })),
      })),
    };
    await api.call("POST", `/pipelines/${id}/spec/save`, { spec });
    return { id, jobs };
  }

  /** Triggers a run. Resolves when the run is stored. */
  async trigger({ id }: Pipeline, variables: Readonly<Record<string, string>> = {}): Promise<RunId> {
    const answer = await this.#installation.api.call<{ runId: string }>("POST", `/pipelines/${id}/trigger`, {
      variables,
    });
    return asId<RunId>(answer.runId);
  }

  /**
   * Triggers a run and waits for its end. Resolves with its `endTime` in Unix milliseconds. Rejects unless the run
   * succeeded.
   */
  async run(pipeline: Pipeline, variables: Readonly<Record<string, string>> = {}): Promise<number> {
    const runId = await this.trigger(pipeline, variables);
    this.#expectedSteps.push(...stepsOf(runId, pipeline));
    const { status, endTime } = await this.#ended(pipeline.id, runId);
    if (status !== "success") {
      const detail = JSON.stringify(await this.#read(pipeline.id, runId));
      throw new Error(`the run ${runId} ended as ${status}: ${detail.slice(0, SHOWN_DETAIL_CHARS)}`);
    }
    return Date.parse(endTime!);
  }

  /**
   * Rejects unless, by the agent's log, exactly the steps of the runs that `measure` triggers have started, each once.
   */
  async checked(measure: () => Promise<readonly Figure[]>): Promise<readonly Figure[]> {
    this.#expectedSteps.length = 0;
    this.#installation.takeStepCounts();
    let figures: readonly Figure[] = [];
    let fault: unknown;
    try {
      figures = await measure();
    } catch (error) {
      fault = error;
    }
    try {
      expectOnce(this.#expectedSteps, await this.#startedSteps(), fault);
      if (fault !== undefined) throw fault;
      return figures;
    } catch (error) {
      throw new Error(this.#installation.logTails(), { cause: error });
    }
  }

  /** The started steps, by the agent's log, which may arrive after the end of the run. */
  async #startedSteps(): Promise<StepCounts> {
    const counts = new Map<string, number>();
    const allSeen = (): boolean => {
      for (const [id, times] of this.#installation.takeStepCounts()) counts.set(id, (counts.get(id) ?? 0) + times);
      return counts.size >= this.#expectedSteps.length;
    };
    await until("every step in the agent's log", allSeen, LOG_MS).catch(() => {}); // The caller reports missing steps.
    return counts;
  }

  #ended(pipelineId: string, runId: string): Promise<ListedRun> {
    return new Promise((resolve, reject) => {
      const waiter = { until: performance.now() + TIMEOUT_MS, resolve, reject };
      const waiters = this.#waiters.get(pipelineId);
      if (waiters !== undefined) {
        waiters.set(runId, waiter);
        return;
      }
      this.#waiters.set(pipelineId, new Map([[runId, waiter]]));
      void this.#poll(pipelineId);
    });
  }

  /** Polls the pipeline's runs while a caller waits for one of them. */
  async #poll(pipelineId: string): Promise<void> {
    const waiters = this.#waiters.get(pipelineId)!;
    try {
      while (waiters.size > 0) {
        await pause(POLL_MS);
        // The list cannot hold a run that is triggered while the list is on its way.
        const asked = [...waiters];
        const listed = await this.#list(pipelineId);
        for (const [runId, waiter] of asked) {
          // A run that is too old for the list is read separately.
          const run = listed.find((entry) => entry.runId === runId) ?? (await this.#read(pipelineId, runId));
          if (FINAL_RUN_STATUSES.includes(run.status)) {
            waiters.delete(runId);
            waiter.resolve(run);
          } else if (performance.now() > waiter.until) {
            throw new Error(`the run ${runId} did not end within ${TIMEOUT_MS} ms`);
          }
        }
      }
    } catch (error) {
      for (const waiter of waiters.values()) waiter.reject(error as Error);
    } finally {
      this.#waiters.delete(pipelineId);
    }
  }

  async #list(pipelineId: string): Promise<readonly ListedRun[]> {
    const path = `/pipelines/${pipelineId}/runs?${LIST}`;
    return (await this.#installation.api.call<{ list: readonly ListedRun[] }>("GET", path)).list;
  }

  #read(pipelineId: string, runId: string): Promise<ListedRun> {
    return this.#installation.api.call("GET", `/pipelines/${pipelineId}/runs/${runId}`);
  }
}

/** The ids of a run's steps in their first attempts. No other step may start. */
function stepsOf(runId: RunId, { jobs }: Pipeline): readonly string[] {
  return jobs.flatMap(({ steps }, jobIndex) => {
    const jobId = jobRunId(runId, jobIndex, 1);
    return steps.map((_, stepIndex) => stepRunId(runId, jobId, stepIndex, 1));
  });
}
