/** Dispatches as agents get them: a granted order, completed from the run's plan. */
import { type Dispatch, IfMissing } from "../../proto/generated/agent/v1/agent.ts";
import { stepFacts } from "../../actors/job/facts.ts";
import { jobName, type JobState } from "../../actors/job/state.ts";
import type { DispatchOrder } from "../domain/effects.ts";
import { MillraceError } from "../domain/errors.ts";
import type { RunId } from "../domain/ids.ts";
import type { JobSpec, Pairs, RunPlan, Scalar, StepSpec } from "../domain/plan.ts";
import { LateTextError, resolveLate, type ResolvedStep, type SecretValues } from "../planner/late-texts.ts";
import { UnreadableSecretError } from "../secrets/sealing.ts";
import type { SecretVault } from "../secrets/vault.ts";
import { readingOutputs } from "../stores/ports/reading-outputs.ts";
import type { RunOrigin } from "../stores/ports/aggregates.ts";
import type { Stores } from "../stores/ports/stores.ts";
import { RecentlyRead } from "../app/recently-read.ts";

const RUNS_IN_MEMORY = 64;
const JOBS_IN_MEMORY = 512;
/** Agents take messages of 16 MB; one that is larger would end the channel, again and again. */
const MAX_DISPATCH_BYTES = 15 * 1024 * 1024;

const IF_MISSING = {
  error: IfMissing.IF_MISSING_ERROR,
  warn: IfMissing.IF_MISSING_WARN,
  ignore: IfMissing.IF_MISSING_IGNORE,
} as const;

interface ResolvedOrder {
  readonly step: ResolvedStep;
  readonly matrix: Pairs<Scalar>;
  readonly secrets: SecretValues;
}

interface RunDocuments {
  readonly plan: RunPlan;
  readonly origin: RunOrigin;
}

export interface DispatchBuilderOptions {
  readonly stores: Pick<Stores, "aggregates" | "plans" | "outputs">;
  readonly secrets: Pick<SecretVault, "read">;
  /** Told of an order that cannot be carried out, and why; may be told again. */
  readonly onRefused: (order: DispatchOrder, reason: string) => Promise<void>;
}

export class DispatchBuilder {
  readonly #options: DispatchBuilderOptions;
  readonly #runs: RecentlyRead<RunDocuments>;
  readonly #specs: RecentlyRead<JobSpec>;

  constructor(options: DispatchBuilderOptions) {
    this.#options = options;
    const { aggregates, plans } = options.stores;
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

  /**
   * Undefined when a text of the step cannot be evaluated with what the run has made so far and the secrets that are set now. Rejects when the store cannot
   * be read, or with `internal` when the plan is not there.
   */
  async build(order: DispatchOrder): Promise<Dispatch | undefined> {
    try {
      return await this.#build(order);
    } catch (error) {
      if (!(error instanceof LateTextError)) throw error;
      await this.#options.onRefused(order, error.message);
      return undefined;
    }
  }

  async #build(order: DispatchOrder): Promise<Dispatch> {
    const { runId, jobIndex, stepIndex } = order;
    const [{ plan, origin }, spec] = await Promise.all([
      this.#runs.read(runId),
      this.#specs.read(`${runId}/${jobIndex}`),
    ]);
    const job = plan.jobs[jobIndex];
    const planned = job?.steps[stepIndex];
    const written = spec.steps[stepIndex];
    if (job === undefined || planned === undefined || written === undefined) {
      throw gone(`step ${stepIndex} of job ${jobIndex} of run ${runId}`);
    }
    const { step, matrix, secrets } = await this.#resolve(order, plan, spec, written);
    const name = jobName(job, { matrix });
    const dispatch: Dispatch = {
      runId,
      jobId: order.jobId,
      stepRunId: order.stepRunId,
      token: BigInt(order.token),
      pipelineId: plan.pipelineId,
      jobName: name,
      stepName: step.name,
      uses: step.uses,
      action: step.action,
      argsJson: JSON.stringify(step.args),
      env: [...step.jobEnv, ...step.env, ...ownEnv(plan, name, origin)].map(([name, value]) => ({ name, value })),
      workingDirectory: step.workingDirectory,
      timeoutMs: BigInt(planned.timeoutMs ?? 0),
      cancelGraceMs: BigInt(job.cancelGraceMs),
      leaseMs: BigInt(job.leaseMs),
      stepIndex,
      requestId: order.requestId,
      jobAttempt: order.jobAttempt,
      secrets: Object.values(secrets),
      artifacts: step.artifacts.map(({ name, paths, ifMissing }) => ({
        name,
        paths: [...paths],
        ifMissing: IF_MISSING[ifMissing],
      })),
      plugin:
        step.plugin === null ? undefined : { sha256: step.plugin.sha256, sizeBytes: BigInt(step.plugin.sizeBytes) },
    };
    refuseLarge(dispatch);
    return dispatch;
  }

  /** With what its texts read of jobs and steps that have ended, and with the values of a cell that was made since. */
  async #resolve(order: DispatchOrder, plan: RunPlan, spec: JobSpec, step: StepSpec): Promise<ResolvedOrder> {
    const planned = plan.jobs[order.jobIndex]!;
    if (spec.late.length === 0 && step.late.length === 0 && planned.cells === null) {
      return { step: { ...step, jobEnv: spec.env }, matrix: [], secrets: {} };
    }
    const secrets = await this.#secretsOf(plan, step);
    const { aggregates, outputs } = this.#options.stores;
    const aggregate = await aggregates.load(order.runId);
    const states = new Map(aggregate?.actors.map(({ id, state }) => [id, state]));
    const job = states.get(order.jobId) as JobState | undefined;
    if (job === undefined) throw gone(`run ${order.runId}`);
    const resolved = await readingOutputs(outputs, (reader) =>
      resolveLate(spec, step, stepFacts(job, plan, { state: (id) => states.get(id), outputs: reader }), secrets),
    );
    return { step: resolved, matrix: job.matrix, secrets };
  }

  /** As they are now. They go into the dispatch and nowhere else. */
  async #secretsOf({ projectId, pipelineId }: RunPlan, { secrets: names }: StepSpec): Promise<SecretValues> {
    if (names.length === 0) return {};
    try {
      const values = await this.#options.secrets.read({ projectId, pipelineId }, names);
      const missing = names.filter((name) => !values.has(name));
      if (missing.length === 0) return Object.fromEntries(values);
      const [are, is] = missing.length === 1 ? ["the secret", "is"] : ["the secrets", "are"];
      throw new LateTextError(`${are} ${missing.join(", ")} ${is} not set for this pipeline or its project`);
    } catch (error) {
      throw error instanceof UnreadableSecretError ? new LateTextError(error.message) : error;
    }
  }

  /** Time between the polite and the forced end of a step of that job, milliseconds. Rejects as `build` does. */
  async cancelGraceMs(runId: RunId, jobIndex: number): Promise<number> {
    const { plan } = await this.#runs.read(runId);
    return plan.jobs[jobIndex]!.cancelGraceMs;
  }
}

/** What runs put into texts and secrets may repeat itself in a thousand of them. */
function refuseLarge({ argsJson, env, secrets }: Dispatch): void {
  const texts = [argsJson, ...secrets, ...env.flatMap(({ name, value }) => [name, value])];
  if (texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0) <= MAX_DISPATCH_BYTES) return;
  throw new LateTextError(`the texts of this step have more than ${MAX_DISPATCH_BYTES} bytes in all`);
}

/** Names that begin with `MILLRACE_` are the plane's and the agent's; they come last, so that no job overrides them. */
function ownEnv(plan: RunPlan, name: string, origin: RunOrigin): Pairs<string> {
  return [
    ["MILLRACE_PIPELINE_ID", plan.pipelineId],
    ["MILLRACE_PROJECT_ID", plan.projectId],
    ["MILLRACE_JOB_NAME", name],
    ["MILLRACE_REF", origin.trigger.ref],
    ["MILLRACE_COMMIT_SHA", origin.commitSha],
    ["MILLRACE_RUN_ATTEMPT", `${origin.attempt}`],
  ];
}

function gone(what: string): MillraceError {
  return new MillraceError("internal", `the plan of ${what} is not in the store`);
}
