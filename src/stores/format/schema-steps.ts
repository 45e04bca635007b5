/** The changes of the stored format since schema 1, one step for each schema. Pure. */
import { isUploadStep } from "../../domain/plugins.ts";
import { MillraceError } from "../../domain/errors.ts";
import {
  hasDeferredFiles,
  type JobSpec,
  type PlannedJob,
  type PlannedStage,
  type PlannedStep,
  type RunPlan,
} from "../../domain/plan.ts";
import type { RunOrigin } from "../ports/aggregates.ts";
import type { SchemaStep, StoredParts, StoredState } from "./stored-parts.ts";

/** The shapes that schema 2 stored. */
type SecondJob = Omit<PlannedJob, "approval" | "group">;
type SecondPlan = Omit<RunPlan, "group" | "stages" | "jobs"> & {
  readonly stages: readonly Omit<PlannedStage, "approval">[];
  readonly jobs: readonly SecondJob[];
};

/** The shapes that schema 1 stored. */
type FirstStep = Pick<PlannedStep, "name" | "continueOnError" | "timeoutMs">;
type FirstJob = Omit<SecondJob, "steps" | "when" | "failFast" | "maxParallel" | "retry" | "outputs" | "cells"> & {
  readonly lostAttempts: number;
  readonly steps: readonly FirstStep[];
};
type FirstPlan = Omit<SecondPlan, "stages" | "jobs"> & {
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

/** The fields that schema 2 adds to a state, with the values that an older state gets. */
const JOB_FIELDS = {
  upstreamFailed: false,
  failing: "",
  stepAttempt: 1,
  firstStep: 0,
  retryTimer: null,
  cell: null,
  matrix: [],
  cells: [],
};
const STEP_FIELDS = { hasOutputs: false };
const REPORT_FIELDS = { hasOutputs: false };

/**
 * Schema 2: conditions, outputs, retries of steps, matrices with a bound. Nodes that write schema 1 cannot run these.
 * So the downgrade refuses a plan that has them, until the last of those nodes is gone.
 */
export const CONDITIONS_AND_OUTPUTS: SchemaStep = {
  upgrade: {
    plan(stored) {
      const { stages, jobs, ...rest } = stored as unknown as FirstPlan;
      const upgraded: SecondPlan = {
        ...rest,
        stages: stages.map((stage) => ({ ...stage, when: null })),
        jobs: jobs.map(({ lostAttempts, steps, ...job }) => ({
          ...job,
          when: null,
          failFast: false,
          maxParallel: null,
          outputs: [],
          cells: null,
          retry: { ...RETRY, attempts: lostAttempts },
          steps: steps.map((step) => ({ ...step, id: "", when: null, retry: null })),
        })),
      };
      return upgraded as unknown as RunPlan;
    },
    spec: (spec) => ({ ...spec, late: [], steps: spec.steps.map((step) => ({ ...step, late: [] })) }),
    job: (state) => ({ ...JOB_FIELDS, ...state }),
    step: (state) => ({ ...STEP_FIELDS, ...state }),
    message: (addressed) => withReport(addressed, (report) => ({ ...REPORT_FIELDS, ...report })),
  },
  downgrade: {
    plan(plan) {
      refuseConditions(plan);
      const older: FirstPlan = {
        ...plan,
        stages: plan.stages.map(({ name }) => ({ name })),
        jobs: plan.jobs.map(
          ({ when: _w, failFast: _f, maxParallel: _m, outputs: _o, cells: _c, retry, steps, ...job }) => ({
            ...job,
            lostAttempts: retry.attempts,
            steps: steps.map(({ name, continueOnError, timeoutMs }) => ({ name, continueOnError, timeoutMs })),
          }),
        ),
      };
      return older as unknown as RunPlan;
    },
    spec(spec) {
      if (spec.late.length > 0 || spec.steps.some(({ late }) => late.length > 0))
        throw olderNode("conditions, outputs and retries of steps");
      const steps = spec.steps.map((step) => without(step, { late: [] }));
      return { ...without(spec, { late: [] }), steps } as unknown as JobSpec;
    },
    job: (state) => without(state, JOB_FIELDS),
    step: (state) => without(state, STEP_FIELDS),
    message: (addressed) => withReport(addressed, (report) => without(report, REPORT_FIELDS)),
  },
};

/** The fields that schema 3 adds, with the values that older data gets. */
const RUN_GATES = { place: null, stageApproval: null, retryOf: null };
const JOB_GATES = {
  cleanup: "none",
  place: null,
  gaveWayTo: null,
  attemptsBefore: 0,
  reusedFrom: null,
  quotas: [],
  waits: null,
};
const STEP_REUSE = { attemptsBefore: 0, reusedFrom: null };
const ORIGIN_RERUN = { retryOf: null, firstRunId: null };

/**
 * Schema 3: approvals, groups, runs that are run again. Nodes that write schema 2 cannot run these. So the downgrade
 * refuses a plan that has them, until the last of those nodes is gone.
 */
export const GATES_AND_RERUNS: SchemaStep = {
  upgrade: {
    plan(stored) {
      const { stages, jobs, ...rest } = stored as unknown as SecondPlan;
      const upgraded: RunPlan = {
        ...rest,
        group: null,
        stages: stages.map((stage) => ({ ...stage, approval: null })),
        jobs: jobs.map((job) => ({ ...job, approval: null, group: null })),
      };
      return upgraded;
    },
    origin: (origin) => ({ ...ORIGIN_RERUN, ...origin }),
    run: (state) => ({ ...RUN_GATES, ...state }),
    job: (state) => ({ ...JOB_GATES, ...state }),
    step: (state) => ({ ...STEP_REUSE, ...state }),
  },
  downgrade: {
    plan(plan) {
      refuseGates(plan);
      const older: SecondPlan = {
        ...without(plan, { group: null }),
        stages: plan.stages.map(({ approval: _a, ...stage }) => stage),
        jobs: plan.jobs.map(({ approval: _a, group: _g, ...job }) => job),
      } as unknown as SecondPlan;
      return older as unknown as RunPlan;
    },
    origin(origin) {
      if (origin.retryOf !== null) throw olderNode("runs that are run again");
      return without(origin, ORIGIN_RERUN) as unknown as RunOrigin;
    },
    run: (state) => without(state, RUN_GATES),
    job: (state) => without(state, JOB_GATES),
    step: (state) => without(state, STEP_REUSE),
    // An older node does not know the phase `notStarted`. It knows `lost`, after which the job starts again as well.
    message: (addressed) =>
      withReport(addressed, (report) => ({
        ...report,
        ...(report["phase"] === "notStarted" ? { phase: "lost" } : {}),
      })),
  },
};

/** The fields that schema 4 adds, with the values that older data gets. */
const USAGE = { usage: null };
const STEP_NEEDS = { secrets: [], artifacts: [], plugin: null };

/**
 * Schema 4: resource usage of steps; secrets, artifacts and plugins. Nodes that write schema 3 would dispatch steps
 * without these. So the downgrade refuses a plan that has any of them, until the last of those nodes is gone.
 */
export const USAGE_AND_STEP_NEEDS: SchemaStep = {
  upgrade: {
    spec: (spec) => ({ ...spec, steps: spec.steps.map((step) => ({ ...STEP_NEEDS, ...step })) }),
    step: (state) => ({ ...USAGE, ...state }),
    message: (addressed) => withReport(addressed, (report) => ({ ...USAGE, ...report })),
  },
  downgrade: {
    spec(spec) {
      if (spec.steps.some(({ secrets }) => secrets.length > 0)) throw olderNode("secrets");
      if (spec.steps.some(({ artifacts }) => artifacts.length > 0)) throw olderNode("artifacts");
      if (spec.steps.some(({ plugin }) => plugin !== null)) throw olderNode("plugins");
      return { ...spec, steps: spec.steps.map((step) => without(step, STEP_NEEDS)) } as unknown as JobSpec;
    },
    step: (state) => without(state, USAGE),
    message: (addressed) => withReport(addressed, (report) => without(report, USAGE)),
  },
};

/**
 * Schema 5: selectors that only trusted labels meet. Nodes that write schema 4 would give such a job to an agent that
 * merely tells the labels. So the downgrade refuses a plan that has one, until the last of those nodes is gone.
 */
export const TRUSTED_SELECTORS: SchemaStep = {
  upgrade: {},
  downgrade: {
    plan(plan) {
      if (plan.jobs.some(({ selector }) => selector.trusted === true)) throw olderNode("trusted labels of agents");
      return plan;
    },
  },
};

/**
 * Schema 6: the actors of ended attempts leave the snapshot, and the state of a run leaves out what a load derives
 * (derived-fields.ts). Nodes that write schema 5 would not find either, so both begin when the last of those nodes is
 * gone; then the head says it. No part has another shape, so there is nothing to convert.
 */
export const ENDED_ATTEMPTS_APART: SchemaStep = { upgrade: {}, downgrade: {} };

/**
 * Schema 7: runs inherit the variables of their project and their tenant and have uploads of their trigger, and jobs have
 * permissions, and steps test reports and plugins of projects and tenants, and containers and services. A node that writes schema 6 would plan the rerun of such a run without the variables and the uploads, would
 * hand no upload and no such plugin to an agent, and would dispatch such a job without its tokens. So the downgrade refuses a run that has any
 * of these, until the last of those nodes is gone. The same holds for schedules, and for the runs that they start. A run keeps the trace context of its trigger,
 * and a plan says whom its run tells what; the downgrade leaves out both.
 */
export const VARIABLES_AND_PERMISSIONS: SchemaStep = {
  upgrade: {},
  downgrade: {
    spec(spec) {
      if (spec.permissions !== undefined) throw olderNode("permissions of jobs");
      if (spec.refusal !== undefined) throw olderNode("protected targets");
      if (hasContainers(spec)) throw olderNode("containers and services");
      if (spec.steps.some(isUploadStep)) throw olderNode("steps that fetch uploads");
      if (spec.steps.some(({ junit }) => junit !== undefined)) throw olderNode("test reports");
      if (spec.steps.some(hasDeferredFiles))
        throw olderNode("names of artifacts and reports that are known during the run");
      if (spec.steps.some(({ plugin }) => plugin?.owner !== undefined)) {
        throw olderNode("plugins of projects and tenants");
      }
      return spec;
    },
    origin(origin) {
      if (origin.inherited !== undefined) throw olderNode("variables of projects and tenants");
      if (origin.trigger.scheduled !== undefined) throw olderNode("schedules");
      if (origin.uploads !== undefined) throw olderNode("uploads of triggers");
      if (origin.trigger.event !== undefined) throw olderNode("event triggers");
      // An older node loses no more than the link from the trace of the run to its trigger.
      const { traceparent: _, ...older } = origin;
      return older;
    },
    // An older node can neither read the aggregates of schedules nor tell a schedule that its run has ended.
    schedule: () => {
      throw olderNode("schedules");
    },
    timetable: () => {
      throw olderNode("schedules");
    },
    // An older node offers the job with the priority of the plan.
    job: (job) => without(job, { priority: null }),
    // Nodes take pushed events into the log of a run once all nodes can.
    run: (run) => without(run, { pushedEvents: null }),
    step: (step) => without(step, { metadata: null, eventsThrough: null }),
    // An older node sends no notifications. So does a run that it may see.
    plan(plan) {
      // An older node would begin the run without it.
      if (plan.approval !== undefined) throw olderNode("approvals of runs");
      const { notifications: _, ...older } = plan;
      return older;
    },
  },
};

/**
 * Schema 8: the events of a turn are one packed record, a small plan is one packed record with its jobs, and states that no longer
 * change are packed. A node that writes schema 7 would read none of them, so they begin when the last of those nodes is gone. No
 * part has another shape, so there is nothing to convert.
 */
export const PACKED_RECORDS: SchemaStep = { upgrade: {}, downgrade: {} };

function hasContainers({ container, services, steps }: JobSpec): boolean {
  return container !== undefined || services !== undefined || steps.some((step) => step.container !== undefined);
}

function refuseGates({ group, stages, jobs }: RunPlan): void {
  const isNewer =
    group !== null ||
    stages.some(({ approval }) => approval !== null) ||
    jobs.some((job) => job.approval !== null || job.group !== null);
  if (isNewer) throw olderNode("approvals and groups");
}

function without(value: object, fields: object): StoredState {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !(name in fields)));
}

/** Applies `change` to a report; every other message stays as it is. */
function withReport(
  addressed: StoredParts["message"],
  change: (report: StoredState) => StoredState,
): StoredParts["message"] {
  const { message } = addressed;
  const isReport = typeof message === "object" && message !== null && "type" in message && message.type === "reported";
  return isReport ? { ...addressed, message: change(message as unknown as StoredState) } : addressed;
}

function refuseConditions({ stages, jobs }: RunPlan): void {
  const isNewer =
    stages.some(({ when }) => when !== null) ||
    jobs.some(
      ({ when, maxParallel, cells, outputs, retry, steps }) =>
        when !== null ||
        maxParallel !== null ||
        cells !== null ||
        outputs.length > 0 ||
        retry.delayMs > 0 ||
        steps.some((step) => step.when !== null || step.retry !== null),
    );
  if (isNewer) throw olderNode("conditions, outputs and retries of steps");
}

function olderNode(what: string): MillraceError {
  return new MillraceError(
    "unavailable",
    `a node of an older version still runs, and it does not support ${what}: try again once all nodes are upgraded`,
  );
}
