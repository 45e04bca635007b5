/**
 * Runs that this process creates and goes on with, as the parts of the node get to know them: the owner of a run's shard and the
 * gateway of its agent are often in the same process, and need not read from the store what the creator has just stored.
 */
import type { GrantedStep } from "../domain/effects.ts";
import type { RunId } from "../domain/ids.ts";
import type { JobSpec, RunPlan } from "../domain/plan.ts";
import type { Aggregate, OwedRecord } from "../stores/ports/aggregates.ts";

/** A run right after it was stored: version 1, and what was stored with it. */
export interface BegunRun {
  readonly aggregate: Aggregate;
  readonly plan: RunPlan;
  readonly jobs: readonly JobSpec[];
}

/** A step whose grant is being saved. `run`: the run, when it is being created. */
type ComingStep = (step: GrantedStep, run?: BegunRun) => void;

export class BegunRuns {
  readonly #listeners: ((run: BegunRun) => void)[] = [];
  readonly #sentListeners: ((run: BegunRun) => void)[] = [];
  readonly #doneListeners: ((runId: RunId) => void)[] = [];
  readonly #comingListeners: ComingStep[] = [];

  /** `listener` must not throw, and must return fast. */
  listen(listener: (run: BegunRun) => void): void {
    this.#listeners.push(listener);
  }

  /** Called once for each run, before any of its effects is performed. */
  tell(run: BegunRun): void {
    for (const listener of this.#listeners) listener(run);
  }

  /** As {@link listen}, for {@link tellSent}. */
  listenSent(listener: (run: BegunRun) => void): void {
    this.#sentListeners.push(listener);
  }

  /**
   * Called at most once for each run, when its first dispatches have left this process, and before a report of them can
   * arrive: what no dispatch needs does not hold one up. A run without dispatches is told before its effects are performed.
   */
  tellSent(run: BegunRun): void {
    for (const listener of this.#sentListeners) listener(run);
  }

  /** As {@link listen}, for {@link tellDone}. */
  listenDone(listener: (runId: RunId) => void): void {
    this.#doneListeners.push(listener);
  }

  /** Called when all effects of the run's first turn have been performed; not called when one of them has failed. */
  tellDone(runId: RunId): void {
    for (const listener of this.#doneListeners) listener(runId);
  }

  /** As {@link listen}, for {@link tellComing}. */
  listenComing(listener: ComingStep): void {
    this.#comingListeners.push(listener);
  }

  /** Called when the save of what a run owes has begun; it may yet fail. The grants in it are dispatched when it has succeeded. */
  tellComing(owed: readonly OwedRecord[], run?: BegunRun): void {
    for (const { effect } of owed) {
      if (effect.type !== "dispatch") continue;
      for (const listener of this.#comingListeners) listener(effect.order, run);
    }
  }
}
