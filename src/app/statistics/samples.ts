/** What an ended run adds to the statistics of its pipeline and of its jobs. Pure. */
import type { JobState } from "../../../actors/job/state.ts";
import type { RunState } from "../../../actors/run/state.ts";
import type { StepState } from "../../../actors/step/state.ts";
import { timeOf } from "../../domain/ids.ts";
import type { RunPlan } from "../../domain/plan.ts";
import type { Aggregate } from "../../stores/ports/aggregates.ts";
import { StartTimes } from "../runs/start-timing.ts";
import { elapsed } from "../times.ts";
import { RESULTS, type Result, type Sample } from "./counters.ts";

/** Names of jobs of one run that are counted; those of further jobs are not. */
const MAX_NAMES = 500;

export interface NamedSample {
  /** The name of the job in the definition; empty for the run itself. */
  readonly job: string;
  readonly sample: Sample;
}

/**
 * The run and those of its jobs that an agent began in it, cells of one matrix under one name. What a rerun reuses is not
 * counted again. `flaky` tells of failures within the run only.
 */
export function samplesOf({ head, actors }: Aggregate, plan: RunPlan): readonly NamedSample[] {
  const jobs: JobState[] = [];
  const steps = new Map<string, StepState[]>();
  let run: RunState | undefined;
  for (const { kind, state } of actors) {
    if (kind === "run") run = state as RunState;
    else if (kind === "job") jobs.push(state as JobState);
    else if (kind === "step") {
      const step = state as StepState;
      steps.set(step.jobId, [...(steps.get(step.jobId) ?? []), step]);
    }
  }
  const { startedAt, endedAt } = head.summary;
  if (run === undefined || endedAt === null || !isResult(head.summary.status)) return [];
  const ofRun: Sample = {
    result: head.summary.status,
    flaky: false,
    durationMs: startedAt === null ? null : elapsed(startedAt, endedAt),
    waits: { plan: startedAt === null ? null : elapsed(timeOf(head.rootId), startedAt) },
  };
  const starts = new StartTimes(head, plan, jobs, endedAt);
  const followed = new Set(jobs.map(({ retryOf }) => retryOf));
  const samples: NamedSample[] = [{ job: "", sample: ofRun }];
  const names = new Set<string>();
  for (const job of jobs) {
    const { jobId, state: result, reusedFrom, startedAt: begun, endedAt: over } = job;
    const name = plan.jobs[job.index]?.baseName;
    if (name === undefined || followed.has(jobId) || reusedFrom !== null || begun === null || over === null) continue;
    if (!isResult(result) || (names.size >= MAX_NAMES && !names.has(name))) continue;
    names.add(name);
    const ofJob = (steps.get(jobId) ?? []).toSorted((a, b) => a.index - b.index || a.attempt - b.attempt);
    const [first] = ofJob;
    const sample: Sample = {
      result,
      flaky: result === "success" && ofJob.some((step) => isFailedBeforeRetry(step, ofJob)),
      durationMs: elapsed(begun, over),
      waits: first === undefined || first.startedAt === null ? {} : starts.waits(first, job, undefined),
    };
    samples.push({ job: name, sample });
  }
  return samples;
}

/** True for an attempt that failed, and that another one followed. */
function isFailedBeforeRetry({ stepRunId, state }: StepState, steps: readonly StepState[]): boolean {
  return (state === "failed" || state === "timeout") && steps.some(({ retryOf }) => retryOf === stepRunId);
}

function isResult(status: string): status is Result {
  return (RESULTS as readonly string[]).includes(status);
}
