/** Dispatches as agents get them: a granted order, completed from the run's plan. */
import { type Dispatch } from "../../proto/generated/agent/v1/agent.ts";
import type { DispatchOrder } from "../domain/effects.ts";
import { MillraceError } from "../domain/errors.ts";
import type { RunId } from "../domain/ids.ts";
import type { JobSpec, Pairs, PlannedJob, RunPlan } from "../domain/plan.ts";
import type { RunOrigin } from "../stores/aggregates.ts";
import type { Stores } from "../stores/stores.ts";
import { RecentlyRead } from "./recently-read.ts";

const RUNS_IN_MEMORY = 64;
const JOBS_IN_MEMORY = 512;

interface RunDocuments {
  readonly plan: RunPlan;
  readonly origin: RunOrigin;
}

export class DispatchBuilder {
  readonly #runs: RecentlyRead<RunDocuments>;
  readonly #specs: RecentlyRead<JobSpec>;

  constructor({ aggregates, plans }: Pick<Stores, "aggregates" | "plans">) {
    this.#runs = new RecentlyRead(RUNS_IN_MEMORY, async (runId) => {
      const id = runId as RunId;
      const [plan, head] = await Promise.all([plans.loadPlan(id), aggregates.loadHead(id)]);
      if (plan === undefined || head === undefined) throw gone(`run ${runId}`);
      return { plan, origin: head.origin };
    });
    this.#specs = new RecentlyRead(JOBS_IN_MEMORY, async (key) => {
      const [runId, jobIndex] = key.split("/");
      const spec = await plans.loadJob(runId as RunId, Number(jobIndex));
      if (spec === undefined) throw gone(`job ${jobIndex} of run ${runId}`);
      return spec;
    });
  }

  /** Rejects when the store cannot be read, or with `internal` when the plan is not there. */
  async build(order: DispatchOrder): Promise<Dispatch> {
    const { runId, jobIndex, stepIndex } = order;
    const [{ plan, origin }, spec] = await Promise.all([
      this.#runs.read(runId),
      this.#specs.read(`${runId}/${jobIndex}`),
    ]);
    const job = plan.jobs[jobIndex];
    const planned = job?.steps[stepIndex];
    const step = spec.steps[stepIndex];
    if (job === undefined || planned === undefined || step === undefined) {
      throw gone(`step ${stepIndex} of job ${jobIndex} of run ${runId}`);
    }
    return {
      runId,
      jobId: order.jobId,
      stepRunId: order.stepRunId,
      token: BigInt(order.token),
      pipelineId: plan.pipelineId,
      jobName: job.name,
      stepName: step.name,
      uses: step.uses,
      action: step.action,
      argsJson: JSON.stringify(step.args),
      env: [...spec.env, ...step.env, ...ownEnv(plan, job, origin)].map(([name, value]) => ({ name, value })),
      workingDirectory: step.workingDirectory,
      timeoutMs: BigInt(planned.timeoutMs ?? 0),
      cancelGraceMs: BigInt(job.cancelGraceMs),
      leaseMs: BigInt(job.leaseMs),
      stepIndex,
      requestId: order.requestId,
      jobAttempt: order.jobAttempt,
    };
  }

  /** Time between the polite and the forced end of a step of that job, milliseconds. Rejects as `build` does. */
  async cancelGraceMs(runId: RunId, jobIndex: number): Promise<number> {
    const { plan } = await this.#runs.read(runId);
    return plan.jobs[jobIndex]!.cancelGraceMs;
  }
}

/** Names that begin with `MILLRACE_` are the plane's and the agent's; they come last, so that no job overrides them. */
function ownEnv(plan: RunPlan, job: PlannedJob, origin: RunOrigin): Pairs<string> {
  return [
    ["MILLRACE_PIPELINE_ID", plan.pipelineId],
    ["MILLRACE_PROJECT_ID", plan.projectId],
    ["MILLRACE_JOB_NAME", job.name],
    ["MILLRACE_REF", origin.trigger.ref],
    ["MILLRACE_COMMIT_SHA", origin.commitSha],
    ["MILLRACE_RUN_ATTEMPT", `${origin.attempt}`],
  ];
}

function gone(what: string): MillraceError {
  return new MillraceError("internal", `the plan of ${what} is not in the store`);
}
