/**
 * What runs that have ended in this process add to the statistics, kept until they are counted: so counting reads nothing of
 * them. A hint: a run that is not kept is read from the store, for instance after a restart, and when another node has
 * ended it.
 */
import type { PipelineId, RootId, RunId } from "../../domain/ids.ts";
import type { RunPlan } from "../../domain/plan.ts";
import type { Aggregate, AggregateHead, RunOrigin, StoredActor } from "../../stores/ports/aggregates.ts";
import { declaresTests } from "../runs/test-counts.ts";
import { type NamedSample, samplesOf } from "./samples.ts";

/** More than end between two countings. The oldest make room. */
const MOST = 4_000;
/** The samples of a run with more actors are made off the way of its last save. */
const SMALL_ACTORS = 50;

/** What is counted of a run. */
export interface CountedRun {
  readonly pipelineId: PipelineId;
  /** Unix milliseconds. */
  readonly endedAt: number;
  /** See {@link revisionOf}. */
  readonly revision: string;
  readonly samples: readonly NamedSample[];
}

export function countedOf({ head, actors }: Aggregate, plan: RunPlan): CountedRun {
  const { summary, origin } = head;
  const samples = samplesOf({ head, actors }, plan);
  return { pipelineId: summary.pipelineId, endedAt: summary.endedAt!, revision: revisionOf(origin), samples };
}

/** What two runs have in common that do the same work: the stored revision of their definition, and the commit. */
export function revisionOf({ revisionId, commitSha }: Pick<RunOrigin, "revisionId" | "commitSha">): string {
  return `${revisionId} ${commitSha}`;
}

type Actor = Pick<StoredActor, "kind" | "id" | "state">;

export class EndedRuns {
  /** In the order of their ends. */
  readonly #runs = new Map<RootId, CountedRun>();

  /**
   * Keeps the run if this save has ended it. `changed`: the actors that the save stores; `before`: all actors before it, by id.
   * A run with tests is left to the store: counting reads more of it than what is kept here.
   */
  note(
    changed: readonly Actor[],
    before: ReadonlyMap<string, Actor>,
    head: AggregateHead<RootId>,
    plan: RunPlan,
  ): void {
    if (head.summary.endedAt === null || before.size > SMALL_ACTORS || !changed.some(({ kind }) => kind === "run"))
      return;
    if (declaresTests(plan)) return;
    const after = new Map([...before, ...changed.map((actor) => [actor.id, actor] as const)]);
    const aggregate = { head, actors: [...after.values()] } as unknown as Aggregate;
    this.#runs.set(head.rootId, countedOf(aggregate, plan));
    if (this.#runs.size > MOST) this.#runs.delete(this.#runs.keys().next().value!);
  }

  has(runId: RunId): boolean {
    return this.#runs.has(runId);
  }

  /** The run, which is not kept any longer. */
  take(runId: RunId): CountedRun | undefined {
    const run = this.#runs.get(runId);
    this.#runs.delete(runId);
    return run;
  }
}
