/**
 * Runs as the API answers them, for tests of the code that shows runs. A test sets only the fields that matter to it.
 */
import type { RunDetail } from "../../src/app/runs/run-view.ts";
import {
  asId,
  type AgentId,
  type JobRunId,
  type PipelineId,
  type ProjectId,
  type RunId,
  type StepRunId,
} from "../../src/domain/ids.ts";

type Job = RunDetail["jobs"][number];
type Step = Job["steps"][number];

export interface JobSketch extends Partial<Omit<Job, "steps">> {
  readonly steps?: readonly Partial<Step>[];
}

const NO_TIMING: Step["timing"] = {
  triggeredAt: "2026-11-21T00:00:00.000Z",
  plannedAt: "2026-11-21T00:00:00.000Z",
  offeredAt: null,
  claimedAt: null,
  dispatchedAt: null,
  startedAt: null,
  waits: { plan: null, stage: null, needs: null, paused: null, agent: null, start: null },
};

export function runDetailOf(overrides: Partial<Omit<RunDetail, "jobs">>, jobs: readonly JobSketch[]): RunDetail {
  return {
    runId: asId<RunId>("run_1"),
    pipelineId: asId<PipelineId>("pl_1"),
    projectId: asId<ProjectId>("default"),
    status: "running",
    statusCode: 2,
    trigger: { kind: "manual", ref: "" },
    triggeredBy: "admin",
    actor: "admin",
    commitSha: "rev_1",
    attempt: 1,
    retryOf: null,
    revisionId: "rev_1",
    eventNumber: 1,
    retriedBy: null,
    commitStatus: null,
    adHoc: false,
    createdAt: "2026-11-21T00:00:00.000Z",
    startTime: "2026-11-21T00:00:00.000Z",
    endTime: null,
    duration: 1_000,
    variables: {},
    inheritedVariables: {},
    uploads: {},
    reason: "",
    waitingFor: null,
    approvals: [],
    tests: null,
    jobCount: jobs.length,
    ...overrides,
    jobs: jobs.map((job, index) => ({
      jobId: asId<JobRunId>(`job_${index}`),
      name: `job-${index}`,
      stage: "build",
      matrix: {},
      needs: [],
      status: "running",
      statusCode: 3,
      attempt: 1,
      retryOf: null,
      retriedBy: null,
      reusedFrom: null,
      agentId: asId<AgentId>("agt_1"),
      reason: "",
      priority: 0,
      gaveWayTo: null,
      condition: null,
      waitingFor: null,
      queuedAt: null,
      startTime: "2026-11-21T00:00:00.000Z",
      endTime: null,
      duration: 500,
      tests: null,
      ...job,
      steps: (job.steps ?? []).map((step, at) => ({
        stepRunId: asId<StepRunId>(`step_${index}_${at}`),
        name: `step-${at}`,
        status: "running",
        statusCode: 3,
        attempt: 1,
        retryOf: null,
        retriedBy: null,
        reusedFrom: null,
        exitCode: null,
        reason: "",
        lastLine: null,
        usage: null,
        startTime: "2026-11-21T00:00:00.000Z",
        endTime: null,
        duration: 250,
        timing: NO_TIMING,
        waitingFor: null,
        ...step,
      })),
    })),
  };
}
