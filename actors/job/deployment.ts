/** What a job deploys to, from its start on. Pure. */
import { environmentNameOf } from "../../src/domain/names.ts";
import type { RunPlan } from "../../src/domain/plan.ts";
import { WorkUsedUp } from "../../src/domain/work/work-budget.ts";
import { resolveOutput } from "../../src/planner/deferred-texts.ts";
import type { Facts } from "../../src/planner/gate.ts";
import { jobName, type JobState } from "./state.ts";

/**
 * The job with its deployment, which starts `now`; unchanged for a job without a target, and where the name of the environment
 * cannot be evaluated or is empty. Throws `MissingOutputs`.
 */
export function deploying(job: JobState, now: number, plan: RunPlan, facts: Facts): JobState {
  const { pipelineId, projectId, jobs } = plan;
  const planned = jobs[job.index]!;
  if (planned.environment === undefined) return job;
  const environment = nameOf(planned.environment, facts);
  if (environment === undefined) return job;
  const name = jobName(planned, job).slice(0, JOB_CHARS);
  return { ...job, deployment: { projectId, pipelineId, environment, job: name, startedAt: now } };
}

/** Characters of the name of a job that a deployment keeps: the values of a matrix may make it long. */
const JOB_CHARS = 200;

function nameOf(text: string, facts: Facts): string | undefined {
  try {
    return environmentNameOf(resolveOutput(text, facts));
  } catch (error) {
    if (!(error instanceof WorkUsedUp)) throw error;
    return undefined;
  }
}
