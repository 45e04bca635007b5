/**
 * The ends of an installation's runs, as one list of the newest runs tells them every 25 ms. Of all the runs that wait in an
 * installation it reads no more than these, so it suits the measurement of many waiting runs.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { RunId } from "../../src/domain/ids.ts";
import { FINAL_RUN_STATUSES, type RunStatus } from "../../src/domain/status.ts";
import type { Installation } from "./installation.ts";
import { END_TIMEOUT_MS, type RunEnds } from "./run-ends.ts";

/** A run as lists show it. */
interface ListedRun {
  readonly runId: string;
  readonly status: RunStatus;
}

interface Waiter {
  readonly until: number;
  resolve(status: RunStatus): void;
  reject(error: Error): void;
}

/** The query that finds the ends of runs: one list of the newest runs serves all waiting callers. */
const LIST = "pageSize=100";
const POLL_MS = 25;

export class PolledEnds implements RunEnds {
  readonly #installation: Pick<Installation, "api">;
  /** By pipeline, then by run. */
  readonly #waiters = new Map<string, Map<string, Waiter>>();

  constructor(installation: Pick<Installation, "api">) {
    this.#installation = installation;
  }

  async follow(): Promise<void> {}

  of(runId: RunId, pipelineId: string): Promise<RunStatus> {
    return new Promise((resolve, reject) => {
      const waiter = { until: performance.now() + END_TIMEOUT_MS, resolve, reject };
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
          const run = listed.find((entry) => entry.runId === runId) ?? (await this.#read(runId));
          if (FINAL_RUN_STATUSES.includes(run.status)) {
            waiters.delete(runId);
            waiter.resolve(run.status);
          } else if (performance.now() > waiter.until) {
            throw new Error(`the run ${runId} did not end within ${END_TIMEOUT_MS} ms`);
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

  #read(runId: string): Promise<ListedRun> {
    return this.#installation.api.call("GET", `/pipelines/runs/${runId}`);
  }
}
