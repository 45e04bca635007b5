/** Builds the dispatch of a granted step from the texts of the plan, the outputs of the run, and the secrets. */
import type { ContentLimits } from "../domain/artifacts.ts";
import { jobName } from "../../actors/job/state.ts";
import type { GrantedStep } from "../domain/effects.ts";
import type { ContainerSpec, ServiceSpec } from "../domain/containers/containers.ts";
import { MillraceError } from "../domain/errors.ts";
import type { JobRunId, PipelineId, RunId, StepRunId } from "../domain/ids.ts";
import type { LogLimit } from "../domain/retention.ts";
import { traceparentOf } from "../telemetry/trace-ids.ts";
import type { Pairs } from "../domain/pairs.ts";
import type { JobSpec, RunPlan, Scalar, StepSpec } from "../domain/plan.ts";
import { stepName } from "../../actors/job/step-name.ts";
import {
  containerOf,
  DeferredTextError,
  isResolved,
  resolveDeferred,
  type ResolvedStep,
  type SecretValues,
} from "../planner/deferred-texts.ts";
import { UnreadableSecretError } from "../secrets/sealing.ts";
import type { SecretVault } from "../secrets/vault.ts";
import { isUntrusted, type RunOrigin } from "../stores/ports/aggregates.ts";
import type { Stores } from "../stores/ports/stores.ts";
import type { AppContext } from "../app/context.ts";
import { jobEnvironment } from "../app/identity/job-tokens.ts";
import type { BegunRun } from "../app/begun-runs.ts";
import { RecentlyRead } from "../app/recently-read.ts";
import type { AskedCheckout } from "../app/git/checkout-token.ts";
import { type HandedOut, withCheckoutToken } from "./checkout-secrets.ts";
import type { LogLimits } from "./log-limits.ts";
import { PreparedDispatches } from "./prepared-dispatches.ts";
import type { SecretHandout } from "./secret-handout.ts";
import { withStepFacts } from "./step-facts.ts";

const NO_IDENTITY = { env: [], secrets: [] } as const;
const RUNS_IN_MEMORY = 64;
const JOBS_IN_MEMORY = 512;
/** A run with more jobs is large: its jobs are kept apart, so that they do not push those of other runs out. */
const JOBS_OF_SMALL_RUN = 64;
/** Large runs whose jobs are kept; the bound on the bytes of a run bounds what they take. */
const LARGE_RUNS_IN_MEMORY = 2;
/** Agents accept messages of 16 MB: a larger dispatch would end the channel each time that it is sent. */
const MAX_DISPATCH_BYTES = 15 * 1024 * 1024;

/**
 * A definition that sets one of these variables itself, and says nothing of `api`, keeps its own: it may know the token of
 * another server.
 */
const API_VARIABLES = ["MILLRACE_API_URL", "MILLRACE_TOKEN"];

function isNotReplaced(
  { permissions }: JobSpec,
  { jobEnv, env }: ResolvedStep,
): (variable: Pairs<string>[number]) => boolean {
  const isOwn = permissions?.api === null && [...jobEnv, ...env].some(([name]) => API_VARIABLES.includes(name));
  return ([name]) => !isOwn || !API_VARIABLES.includes(name);
}

/** The message that tells an agent to run a step. */
export interface Dispatch {
  readonly runId: RunId;
  readonly jobId: JobRunId;
  readonly stepRunId: StepRunId;
  /** Fencing token; every report and log batch of the step carries it. */
  readonly token: number;
  readonly pipelineId: PipelineId;
  /** Name for people, with the values of the matrix cell. */
  readonly jobName: string;
  readonly stepName: string;
  /** `shell` or another builtin, or a plugin reference. */
  readonly uses: string;
  /** Empty for the plugin's default action. */
  readonly action: string;
  /** Arguments of the action: a JSON object. */
  readonly argsJson: string;
  /** Environment variables; of two entries with one name the later one wins. */
  readonly env: Pairs<string>;
  /** Relative to the job's workspace; empty for its root. */
  readonly workingDirectory: string;
  /** Milliseconds from the start of the step; 0 for no timeout. */
  readonly timeoutMs: number;
  /** Between the request to end and the kill of a step, milliseconds. */
  readonly cancelGraceMs: number;
  /** The agent kills the step when it has sent no heartbeat within this time that was acknowledged, milliseconds. */
  readonly leaseMs: number;
  /** Position in the job, from 0. */
  readonly stepIndex: number;
  /** The claim that this dispatch answers; empty for later steps of a job. */
  readonly requestId: string;
  /** Attempt of the job, from 1. */
  readonly jobAttempt: number;
  /** Values of the secrets in `argsJson` and `env`, which the agent masks in logs. */
  readonly secrets: readonly string[];
  readonly artifacts: ResolvedStep["artifacts"];
  readonly plugin: ResolvedStep["plugin"];
  /** Absent for a step that runs outside of containers. */
  readonly container?: ContainerSpec;
  /** Whether the container is for this step alone. */
  readonly isOwnContainer?: boolean;
  readonly services: readonly ServiceSpec[];
  /** The digests that the run has pinned, by the references of its images. */
  readonly imageDigests: ReadonlyMap<string, string>;
  /** Patterns of JUnit XML files; absent for none. */
  readonly junit?: readonly string[];
  readonly logLimit: LogLimit;
  /** Absent: the agent is not told. */
  readonly contentLimits?: ContentLimits;
}

interface ResolvedDispatch extends HandedOut {
  readonly matrix: Pairs<Scalar>;
}

interface RunDocuments {
  readonly plan: RunPlan;
  readonly origin: RunOrigin;
}

interface BegunDocuments extends RunDocuments {
  /** All jobs of the run. */
  readonly jobs: readonly JobSpec[];
}

interface StepDocuments extends RunDocuments {
  /** The job of the step. */
  readonly spec: JobSpec;
}

/** True when the plan alone decides the dispatch: nothing that may change until the grant is stored, and no secret. */
function isOfPlan({ jobIndex, stepIndex }: GrantedStep, { plan, spec }: StepDocuments): boolean {
  const step = spec.steps[stepIndex];
  const hasImages = spec.container !== undefined || step?.container !== undefined || (spec.services ?? []).length > 0;
  const isPlain = spec.permissions === undefined && spec.refusal === undefined && !hasImages;
  return isPlain && step !== undefined && isResolved(spec, step) && plan.jobs[jobIndex]?.cells === null;
}

export interface DispatchBuilderOptions {
  readonly stores: Pick<Stores, "aggregates" | "plans" | "outputs" | "runImages">;
  readonly secrets: Pick<SecretVault, "read">;
  readonly handout: Pick<SecretHandout, "refusal">;
  readonly logLimits: Pick<LogLimits, "of">;
  /** Makes the tokens of jobs with permissions; `publicUrl` is where their steps reach the API. Absent: such jobs fail. */
  readonly identity?: Pick<AppContext, "clock" | "signingKey" | "publicUrl"> & Pick<SecretHandout, "allowed">;
  readonly contentLimits?: ContentLimits;
  /**
   * Makes the tokens of checkouts with the secret of a GitHub App. Rejects with a `NoCheckoutTokenError` to refuse the dispatch,
   * and with another error to have it built later. Absent: such checkouts fail.
   */
  readonly checkoutToken?: (step: Pick<GrantedStep, "stepRunId" | "agentId">, asked: AskedCheckout) => Promise<string>;
  /**
   * Called with a granted step whose dispatch cannot be built, and the reason; may be called again for the same step.
   */
  readonly onRefused: (step: GrantedStep, reason: string) => Promise<void>;
  /** Called with a dispatch that was built while its grant is being saved. It may never be sent. */
  readonly onPrepared?: ((dispatch: Dispatch) => void) | undefined;
}

export class DispatchBuilder {
  readonly #options: DispatchBuilderOptions;
  readonly #runs: RecentlyRead<RunDocuments>;
  readonly #specs: RecentlyRead<JobSpec>;
  readonly #prepared = new PreparedDispatches<Dispatch>();
  /** The runs that were created here last, oldest first. */
  readonly #begun = { small: new Map<RunId, BegunDocuments>(), large: new Map<RunId, BegunDocuments>() };

  constructor(options: DispatchBuilderOptions) {
    this.#options = options;
    const { aggregates, plans } = options.stores;
    this.#runs = new RecentlyRead(RUNS_IN_MEMORY, async (runId) => {
      const id = runId as RunId;
      const begun = this.#begunOf(id);
      if (begun !== undefined) return begun;
      const [plan, head] = await Promise.all([plans.loadPlan(id), aggregates.loadHead(id)]);
      if (plan === undefined || head === undefined) throw missingPlan(`run ${runId}`);
      return { plan, origin: head.origin };
    });
    this.#specs = new RecentlyRead(JOBS_IN_MEMORY, async (key) => {
      const [runId, jobIndex] = key.split("/") as [RunId, string];
      const spec = this.#begunOf(runId)?.jobs[Number(jobIndex)] ?? (await plans.loadJob(runId, Number(jobIndex)));
      if (spec === undefined) throw missingPlan(`job ${jobIndex} of run ${runId}`);
      return spec;
    });
  }

  /**
   * Keeps what the first dispatches of a run need, so that they are built without the store. It does no more than that, because
   * the dispatches wait for it.
   */
  learn({ aggregate: { head }, plan, jobs }: BegunRun): void {
    if (!head.owed.some(({ effect }) => effect.type === "dispatch")) return;
    const isLarge = jobs.length > JOBS_OF_SMALL_RUN;
    const known = isLarge ? this.#begun.large : this.#begun.small;
    known.set(head.rootId, { plan, origin: head.origin, jobs });
    if (known.size > (isLarge ? LARGE_RUNS_IN_MEMORY : RUNS_IN_MEMORY)) known.delete(known.keys().next().value!);
  }

  #begunOf(runId: RunId): BegunDocuments | undefined {
    return this.#begun.small.get(runId) ?? this.#begun.large.get(runId);
  }

  /**
   * Builds the dispatch. Undefined when a text of the step cannot be evaluated with the present outputs and secrets;
   * then `onRefused` was called. Rejects when the store cannot be read, while the token of a checkout is waited for, and with
   * `internal` when the plan is missing.
   */
  async build(granted: GrantedStep): Promise<Dispatch | undefined> {
    try {
      return await this.#build(granted);
    } catch (error) {
      if (!(error instanceof DeferredTextError)) throw error;
      await this.#options.onRefused(granted, error.message);
      return undefined;
    }
  }

  /** Builds the dispatch of a step whose grant is being saved, as far as the plan decides it. `run`: a run that is new. */
  prepare(granted: GrantedStep, run?: BegunRun): void {
    this.#prepared.prepare(granted, async () => {
      const documents =
        run === undefined
          ? await this.#documentsOf(granted)
          : { plan: run.plan, origin: run.aggregate.head.origin, spec: run.jobs[granted.jobIndex]! };
      if (!isOfPlan(granted, documents)) return undefined;
      const dispatch = await this.#buildOf(granted, documents);
      this.#options.onPrepared?.(dispatch);
      return dispatch;
    });
  }

  async #build(granted: GrantedStep): Promise<Dispatch> {
    return (await this.#prepared.take(granted)) ?? this.#buildOf(granted, await this.#documentsOf(granted));
  }

  async #documentsOf({ runId, jobIndex }: GrantedStep): Promise<StepDocuments> {
    const [{ plan, origin }, spec] = await Promise.all([
      this.#runs.read(runId),
      this.#begun.large.get(runId)?.jobs[jobIndex] ?? this.#specs.read(`${runId}/${jobIndex}`),
    ]);
    return { plan, origin, spec };
  }

  async #buildOf(granted: GrantedStep, { plan, origin, spec }: StepDocuments): Promise<Dispatch> {
    const { runId, jobIndex, stepIndex } = granted;
    const job = plan.jobs[jobIndex];
    const planned = job?.steps[stepIndex];
    const stepSpec = spec.steps[stepIndex];
    if (job === undefined || planned === undefined || stepSpec === undefined) {
      throw missingPlan(`step ${stepIndex} of job ${jobIndex} of run ${runId}`);
    }
    if (spec.refusal !== undefined) throw new DeferredTextError(spec.refusal);
    const [{ step, matrix, secrets }, logLimit, identity] = await Promise.all([
      this.#resolve(granted, plan, spec, stepSpec, origin),
      this.#options.logLimits.of(plan.projectId),
      this.#identityOf(granted, plan, spec, origin),
    ]);
    const { contentLimits } = this.#options;
    const name = jobName(job, { matrix });
    const dispatch: Dispatch = {
      runId,
      jobId: granted.jobId,
      stepRunId: granted.stepRunId,
      token: granted.token,
      pipelineId: plan.pipelineId,
      jobName: name,
      stepName: stepName(planned, matrix),
      uses: step.uses,
      action: step.action,
      argsJson: JSON.stringify(step.args),
      env: [
        ...withTraceparent([...step.jobEnv, ...step.env], granted),
        ...millraceEnv(plan, name, origin),
        ...identity.env.filter(isNotReplaced(spec, step)),
      ],
      workingDirectory: step.workingDirectory,
      timeoutMs: planned.timeoutMs ?? 0,
      cancelGraceMs: job.cancelGraceMs,
      leaseMs: job.leaseMs,
      stepIndex,
      requestId: granted.requestId,
      jobAttempt: granted.jobAttempt,
      secrets: [...secrets, ...identity.secrets],
      artifacts: step.artifacts,
      plugin: step.plugin,
      services: step.services,
      imageDigests: await this.#imageDigests(runId, step),
      ...(step.container === undefined
        ? {}
        : { container: step.container, isOwnContainer: stepSpec.container !== undefined }),
      ...(step.junit === undefined ? {} : { junit: step.junit }),
      logLimit,
      ...(contentLimits === undefined ? {} : { contentLimits }),
    };
    refuseLarge(dispatch);
    return dispatch;
  }

  /**
   * Evaluates the deferred texts of the step: they read ended jobs and steps, secrets, and the values of a deferred
   * matrix cell.
   */
  async #resolve(
    granted: GrantedStep,
    plan: RunPlan,
    spec: JobSpec,
    step: StepSpec,
    origin: RunOrigin,
  ): Promise<ResolvedDispatch> {
    const planned = plan.jobs[granted.jobIndex]!;
    if (isResolved(spec, step) && planned.cells === null) {
      const { container: _, ...rest } = step;
      const container = containerOf(spec, step);
      const contained = { services: spec.services ?? [], ...(container === undefined ? {} : { container }) };
      return { step: { ...rest, ...contained, jobEnv: spec.env }, matrix: [], secrets: [] };
    }
    if (step.secrets.length > 0 && isUntrusted(origin)) throw new DeferredTextError(UNTRUSTED);
    const refusal = await this.#options.handout.refusal(granted.agentId, plan.projectId, planned, step);
    if (refusal !== undefined) throw new DeferredTextError(refusal);
    const secrets = await this.#secretsOf(plan, step);
    const { value, job } = await withStepFacts(this.#options.stores, granted, plan, (facts) =>
      resolveDeferred(spec, step, facts, secrets),
    );
    const handedOut = { step: value, secrets: Object.values(secrets) };
    const { checkoutToken } = this.#options;
    const tokenFor = checkoutToken && ((asked: AskedCheckout) => checkoutToken(granted, asked));
    return { ...(await withCheckoutToken(handedOut, tokenFor)), matrix: job.matrix };
  }

  /** Most steps have no image, and cost no read. */
  async #imageDigests(runId: RunId, { container, services }: ResolvedStep): Promise<ReadonlyMap<string, string>> {
    if (container === undefined && services.length === 0) return new Map();
    const pinned = await this.#options.stores.runImages.of(runId);
    return new Map(pinned.map(({ image, digest }) => [image, digest]));
  }

  /** The tokens of a job with permissions. They are secrets: an agent that gets no secrets gets none of them. */
  async #identityOf(granted: GrantedStep, plan: RunPlan, { permissions }: JobSpec, origin: RunOrigin) {
    if (permissions === undefined || isUntrusted(origin)) return NO_IDENTITY;
    const { identity, handout } = this.#options;
    if (identity?.publicUrl === undefined) {
      throw new DeferredTextError(
        "the job has `permissions`, and its steps cannot be told where the API is: set MILLRACE_PUBLIC_URL on all edges and gateways",
      );
    }
    const planned = plan.jobs[granted.jobIndex]!;
    const refusal = await handout.refusal(granted.agentId, plan.projectId, planned, { secrets: ["MILLRACE_TOKEN"] });
    if (refusal !== undefined) throw new DeferredTextError(refusal);
    const allowed = await identity.allowed(plan.projectId, permissions);
    return jobEnvironment(identity, granted, allowed, origin, identity.publicUrl);
  }

  /** The present values of the step's secrets. They must go into the dispatch and nowhere else. */
  async #secretsOf({ projectId, pipelineId }: RunPlan, { secrets: names }: StepSpec): Promise<SecretValues> {
    if (names.length === 0) return {};
    try {
      const values = await this.#options.secrets.read({ projectId, pipelineId }, names);
      const missing = names.filter((name) => !values.has(name));
      if (missing.length === 0) return Object.fromEntries(values);
      const [noun, verb] = missing.length === 1 ? ["the secret", "is"] : ["the secrets", "are"];
      throw new DeferredTextError(`${noun} ${missing.join(", ")} ${verb} not set for this pipeline or its project`);
    } catch (error) {
      throw error instanceof UnreadableSecretError ? new DeferredTextError(error.message) : error;
    }
  }

  /**
   * Time between the request to end and the kill of a step of that job, milliseconds. Rejects as {@link build} does.
   */
  async cancelGraceMs(runId: RunId, jobIndex: number): Promise<number> {
    const { plan } = await this.#runs.read(runId);
    return plan.jobs[jobIndex]!.cancelGraceMs;
  }
}

const UNTRUSTED =
  "the run was started from a fork, so it gets no secrets: leave the step out with `when: trigger.fork != true`, or trigger the run yourself";

/** Adds the trace context of the step, unless the definition sets one: of two variables with one name the later counts. */
function withTraceparent(env: Dispatch["env"], { runId, stepRunId }: GrantedStep): Dispatch["env"] {
  if (env.some(([name]) => name === "TRACEPARENT")) return env;
  return [...env, ["TRACEPARENT", traceparentOf(runId, stepRunId)]];
}

/** A long output or secret may occur in a thousand texts of a step, so the size is checked after the evaluation. */
function refuseLarge({ argsJson, env, secrets, container, services }: Dispatch): void {
  const uses = [...(container === undefined ? [] : [container]), ...services];
  const texts = [argsJson, ...secrets, ...env.flat(), ...uses.flatMap((use) => [use.image, ...use.env.flat()])];
  if (texts.reduce((bytes, text) => bytes + Buffer.byteLength(text), 0) <= MAX_DISPATCH_BYTES) return;
  throw new DeferredTextError(`the texts of this step have more than ${MAX_DISPATCH_BYTES} bytes in all`);
}

/**
 * Names that begin with `MILLRACE_` belong to the control plane and the agent. These come last, so that no job
 * overrides them.
 */
function millraceEnv(plan: RunPlan, name: string, origin: RunOrigin): Pairs<string> {
  return [
    ["MILLRACE_PIPELINE_ID", plan.pipelineId],
    ["MILLRACE_PROJECT_ID", plan.projectId],
    ["MILLRACE_JOB_NAME", name],
    ["MILLRACE_REF", origin.trigger.ref],
    ["MILLRACE_COMMIT_SHA", origin.commitSha],
    ["MILLRACE_RUN_ATTEMPT", `${origin.attempt}`],
  ];
}

function missingPlan(what: string): MillraceError {
  return new MillraceError("internal", `the plan of ${what} is not in the store`);
}
