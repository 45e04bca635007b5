/** What has changed in the stored format since schema 1. Pure. */
import { MillraceError } from "../domain/errors.ts";
import type { PlannedJob, PlannedStep, RunPlan } from "../domain/plan.ts";
import type { SchemaStep, StoredState } from "./stored-format.ts";

/** As schema 1 stored it. */
type FirstStep = Pick<PlannedStep, "name" | "continueOnError" | "timeoutMs">;
type FirstJob = Omit<PlannedJob, "steps" | "when" | "failFast" | "maxParallel" | "retry"> & {
  readonly lostAttempts: number;
  readonly steps: readonly FirstStep[];
};
type FirstPlan = Omit<RunPlan, "stages" | "jobs"> & {
  readonly stages: readonly { readonly name: string }[];
  readonly jobs: readonly FirstJob[];
};

const RETRY = {
  on: ["agent_lost", "dispatch_failed"],
  exitCodes: [],
  delayMs: 0,
  backoff: 1,
  maxDelayMs: 0,
} as const;

/** What a job remembers since schema 2, as it is when nothing has come of it. */
const JOB_FIELDS = { upstreamFailed: false, failing: "", stepAttempt: 1, firstStep: 0, retryTimer: null };

/**
 * Schema 2: conditions, retries of steps, matrices with a bound. Nodes that write schema 1 cannot run these, so a plan
 * that has them is refused until the last of them is gone.
 */
export const CONDITIONS_AND_RETRIES: SchemaStep = {
  upgrade: {
    plan(stored) {
      const { stages, jobs, ...rest } = stored as unknown as FirstPlan;
      return {
        ...rest,
        stages: stages.map((stage) => ({ ...stage, when: null })),
        jobs: jobs.map(({ lostAttempts, steps, ...job }) => ({
          ...job,
          when: null,
          failFast: false,
          maxParallel: null,
          retry: { ...RETRY, attempts: lostAttempts },
          steps: steps.map((step) => ({ ...step, id: "", when: null, retry: null })),
        })),
      };
    },
    job: (state) => ({ ...JOB_FIELDS, ...state }),
  },
  downgrade: {
    plan(plan) {
      refuseNewer(plan);
      const older: FirstPlan = {
        ...plan,
        stages: plan.stages.map(({ name }) => ({ name })),
        jobs: plan.jobs.map(({ when: _w, failFast: _f, maxParallel: _m, retry, steps, ...job }) => ({
          ...job,
          lostAttempts: retry.attempts,
          steps: steps.map(({ name, continueOnError, timeoutMs }) => ({ name, continueOnError, timeoutMs })),
        })),
      };
      return older as unknown as RunPlan;
    },
    job: (state) => Object.fromEntries(Object.entries(state).filter(([name]) => !(name in JOB_FIELDS))) as StoredState,
  },
};

function refuseNewer({ stages, jobs }: RunPlan): void {
  const isNewer =
    stages.some(({ when }) => when !== null) ||
    jobs.some(
      ({ when, maxParallel, retry, steps }) =>
        when !== null ||
        maxParallel !== null ||
        retry.delayMs > 0 ||
        steps.some((step) => step.when !== null || step.retry !== null),
    );
  if (!isNewer) return;
  throw new MillraceError(
    "unavailable",
    "a node of an older version still runs, which knows no conditions and no retries of steps: try again once all nodes are upgraded",
  );
}
