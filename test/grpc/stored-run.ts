/** A run in the store. Tests change the states of its actors as the kernel would. */
import { jobActor } from "../../actors/job/actor.ts";
import type { JobState } from "../../actors/job/state.ts";
import { indexRun } from "../../actors/run/actor.ts";
import { createRunAggregate } from "../../actors/run/create.ts";
import type { RunState } from "../../actors/run/state.ts";
import { stepActor } from "../../actors/step/actor.ts";
import type { Grant } from "../../actors/step/messages.ts";
import type { StepState } from "../../actors/step/state.ts";
import type { GrantedStep, Offer } from "../../src/domain/effects.ts";
import { asId, type DeliveryId, type JobRunId, newId, type RunId, type StepRunId } from "../../src/domain/ids.ts";
import { ANY_AGENT } from "../../src/domain/labels.ts";
import type { JobSpec, RunPlan } from "../../src/domain/plan.ts";
import type { Aggregate, RunOrigin, StoredActor } from "../../src/stores/ports/aggregates.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { jobSpecsOf, type JobSketch, planOf } from "../support/plans.ts";

export const STORED_RUN_SHARD = 0;

/** The trigger of a run of a fork. */
export const OF_FORK: Pick<RunOrigin, "trigger"> = {
  trigger: {
    kind: "event",
    ref: "refs/pull/7/head",
    event: { deliveryId: asId<DeliveryId>("dlv_1"), index: 0, trigger: "1", sha: "ab".repeat(20), untrusted: true },
  },
};

export class StoredRun {
  readonly runId: RunId;
  readonly #stores: Stores;
  readonly #plan: RunPlan;
  #aggregate: Aggregate;

  private constructor(stores: Stores, plan: RunPlan, aggregate: Aggregate) {
    this.runId = aggregate.head.rootId;
    this.#stores = stores;
    this.#plan = plan;
    this.#aggregate = aggregate;
  }

  /** Stores a run of one stage with a job for each sketch. Nothing is granted yet. */
  static async create(
    stores: Stores,
    jobs: readonly JobSketch[] = [{}],
    spec: Partial<JobSpec> = {},
    ofTrigger: Partial<Pick<RunOrigin, "trigger" | "uploads">> = {},
  ): Promise<StoredRun> {
    const runId = newId("run");
    const plan = planOf([jobs]);
    const origin = {
      trigger: { kind: "manual", ref: "main" },
      variables: [],
      triggeredBy: "ann",
      actor: "ann",
      revisionId: "rev_1",
      commitSha: "c0ffee",
      attempt: 1,
      retryOf: null,
      firstRunId: null,
      ...ofTrigger,
    } as const;
    const aggregate = createRunAggregate({ runId, shard: STORED_RUN_SHARD, plan, origin, now: Date.now() });
    await stores.plans.put(
      runId,
      plan,
      jobSpecsOf(plan).map((job) => ({ ...job, ...spec })),
    );
    await stores.aggregates.create(aggregate);
    return new StoredRun(stores, plan, aggregate);
  }

  jobId(job = 0): JobRunId {
    return this.job(job).jobId;
  }

  stepRunId(job = 0, step = 0): StepRunId {
    return this.step(job, step).stepRunId;
  }

  job(index = 0): JobState {
    return this.#actors("job").find(({ index: at }) => at.position === index)!.state as JobState;
  }

  step(job = 0, index = 0): StepState {
    const steps = this.#actors("step").map(({ state }) => state as StepState);
    return steps.find((step) => step.jobIndex === job && step.index === index)!;
  }

  offer(job = 0, overrides: Partial<Offer> = {}): Offer {
    return {
      runId: this.runId,
      jobId: this.jobId(job),
      jobIndex: job,
      projectId: this.#plan.projectId,
      selector: ANY_AGENT,
      priority: 0,
      queuedAt: Date.now(),
      ...overrides,
    };
  }

  /** The granted step that a dispatch of this step carries. */
  grantedStep(job = 0, index = 0): GrantedStep {
    const { grant, runId, jobId, jobIndex, jobAttempt, stepRunId } = this.step(job, index);
    return { ...grant!, runId, jobId, jobIndex, jobAttempt, stepRunId, stepIndex: index };
  }

  /** Makes the run running, so that a worker can decide on it. No event says so. */
  async begin(): Promise<void> {
    const { state } = this.#actors("run")[0]!;
    const running = { ...(state as RunState), state: "running", stage: 0, startTimer: null } as const;
    await this.#save([{ kind: "run", id: this.runId, state: running, index: indexRun(running) }]);
  }

  /** Grants a job and puts one of its steps into this state. */
  async grant(grant: Grant, state: StepState["state"] = "queued", job = 0, index = 0): Promise<void> {
    await this.change(
      { job, state: { state: "running", grant, fence: grant.token, stepIndex: index, stepActive: true } },
      { job, step: index, state: { state, grant } },
    );
  }

  async change(
    ...changes: readonly (
      | { readonly job: number; readonly step?: undefined; readonly state: Partial<JobState> }
      | { readonly job: number; readonly step: number; readonly state: Partial<StepState> }
    )[]
  ): Promise<void> {
    // A worker may have saved the run since.
    this.#aggregate = (await this.#stores.aggregates.load(this.runId))!;
    const changed = changes.map((change): StoredActor => {
      if (change.step === undefined) {
        const state = { ...this.job(change.job), ...change.state };
        return { kind: "job", id: state.jobId, state, index: jobActor.index(state) };
      }
      const state = { ...this.step(change.job, change.step), ...change.state };
      return { kind: "step", id: state.stepRunId, state, index: stepActor.index(state) };
    });
    await this.#save(changed);
  }

  async #save(changed: readonly StoredActor[]): Promise<void> {
    const { head, actors } = this.#aggregate;
    const next = { ...head, version: head.version + 1 };
    const expectedVersion = head.version;
    const saved = await this.#stores.aggregates.save({ expectedVersion, head: next, changed, events: [] });
    if (saved !== "saved") throw new Error(saved);
    const byId = new Map(changed.map((actor) => [actor.id, actor]));
    this.#aggregate = { head: next, actors: actors.map((actor) => byId.get(actor.id) ?? actor) };
  }

  #actors(kind: StoredActor["kind"]): readonly StoredActor[] {
    return this.#aggregate.actors.filter((actor) => actor.kind === kind);
  }
}
