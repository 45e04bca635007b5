/** The `cache` steps that agents hold, and those whose job has ended. */
import type { JobState } from "../../../actors/job/state.ts";
import { isGrantOf, type StepState } from "../../../actors/step/state.ts";
import { builtinOf } from "../../domain/builtins.ts";
import { KEEP_CACHE_MS } from "../../domain/caches.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { AgentId, ProjectId, RunId } from "../../domain/ids.ts";
import type { WithStores } from "../../app/context.ts";
import { isUntrusted } from "../../stores/ports/aggregates.ts";
import type { IngestContext } from "./context.ts";
import { requireHeldStep, type StepGrant } from "../held-step.ts";

/**
 * The project whose cache entries the step uses. Throws `conflict` when the agent does not hold the step, or it is no
 * `cache` step.
 */
export async function projectOfCacheStep(
  context: WithStores<"aggregates" | "plans">,
  agentId: AgentId,
  grant: StepGrant,
): Promise<ProjectId> {
  const { runId, step } = await requireHeldStep(context, agentId, grant);
  return projectOf(context, runId, step);
}

/** A `cache` step whose job has succeeded. */
export interface ReleasedStep {
  readonly runId: RunId;
  readonly projectId: ProjectId;
  /** Until when the agent may upload the entry, Unix milliseconds. */
  readonly until: number;
}

/**
 * Finds a `cache` step whose job has succeeded on this agent. Throws `conflict` while the job has not succeeded, for a
 * step of another agent or of an earlier grant, for a step that is no `cache` step, and when the job ended too long
 * ago.
 */
export async function releasedCacheStep(
  context: IngestContext,
  agentId: AgentId,
  { stepRunId, token }: StepGrant,
): Promise<ReleasedStep> {
  const { aggregates } = context.stores;
  const location = await aggregates.findStep(stepRunId);
  const step = location?.actor.state as StepState | undefined;
  if (location === undefined || step === undefined || !isGrantOf(step, agentId, token)) {
    throw conflict(`this agent did not have step run ${JSON.stringify(stepRunId)} under token ${token}`);
  }
  const job = (await aggregates.findJob(step.jobId))?.actor.state as JobState | undefined;
  if (step.state !== "success" || job?.state !== "success" || job.endedAt === null) {
    throw conflict(`the entry of step run ${stepRunId} can be kept only when its job has succeeded, and it has not`);
  }
  const head = await aggregates.loadHead(location.runId);
  if (head !== undefined && isUntrusted(head.origin)) {
    throw conflict("the run was started from a fork: it may read entries of the cache, and keeps none");
  }
  const until = job.endedAt + KEEP_CACHE_MS;
  if (context.clock.now() >= until) throw conflict(`it is too late: job ${step.jobId} ended ${KEEP_CACHE_MS} ms ago`);
  return { runId: location.runId, projectId: await projectOf(context, location.runId, step), until };
}

async function projectOf(
  { stores }: WithStores<"aggregates" | "plans">,
  runId: RunId,
  step: StepState,
): Promise<ProjectId> {
  const [head, spec] = await Promise.all([
    stores.aggregates.loadHead(runId),
    stores.plans.loadJob(runId, step.jobIndex),
  ]);
  const uses = spec?.steps[step.index]?.uses ?? "";
  if (head === undefined || builtinOf(uses) !== "cache") throw conflict(`step run ${step.stepRunId} is no cache step`);
  return head.summary.projectId;
}

function conflict(text: string): MillraceError {
  return new MillraceError("conflict", text);
}
