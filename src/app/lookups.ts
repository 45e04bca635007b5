/** Look-ups of projects, pipelines, runs and plans that throw `not_found` with a text for people. */
import { MillraceError } from "../domain/errors.ts";
import type { PipelineId, ProjectId, RunId, TenantId } from "../domain/ids.ts";
import type { RunPlan } from "../domain/plan.ts";
import type { AggregateHead } from "../stores/ports/aggregates.ts";
import type { Pipeline, Project } from "../stores/ports/pipelines.ts";
import type { WithStores } from "./context.ts";

export async function findProject(context: WithStores<"pipelines">, projectId: ProjectId): Promise<Project> {
  const project = await context.stores.pipelines.findProject(projectId);
  if (project === undefined) throw noProject(projectId);
  return project;
}

export function noProject(projectId: ProjectId): MillraceError {
  return new MillraceError("not_found", `there is no project ${JSON.stringify(projectId)}`);
}

export function noTenant(tenantId: TenantId): MillraceError {
  return new MillraceError("not_found", `there is no tenant ${JSON.stringify(tenantId)}`);
}

export async function findPipeline(context: WithStores<"pipelines">, pipelineId: PipelineId): Promise<Pipeline> {
  const pipeline = await context.stores.pipelines.find(pipelineId);
  if (pipeline === undefined) throw noPipeline(pipelineId);
  return pipeline;
}

export function noPipeline(pipelineId: PipelineId): MillraceError {
  return new MillraceError("not_found", `there is no pipeline ${JSON.stringify(pipelineId)}`);
}

/** The head of a run. With `pipelineId`, throws `not_found` also for a run of another pipeline. */
export async function findRunHead(
  context: WithStores<"aggregates">,
  runId: RunId,
  pipelineId?: PipelineId,
): Promise<AggregateHead> {
  const head = await context.stores.aggregates.loadHead(runId);
  if (head === undefined || !isOfPipeline(head, pipelineId)) throw noRun(runId, pipelineId);
  return head;
}

/** The plan of a run that exists. Throws `internal` without one: a plan is stored together with its run. */
export async function findPlan(context: WithStores<"plans">, runId: RunId): Promise<RunPlan> {
  const plan = await context.stores.plans.loadPlan(runId);
  if (plan === undefined) throw noPlan(runId);
  return plan;
}

export function noPlan(runId: RunId): MillraceError {
  return new MillraceError("internal", `run ${runId} has no plan`);
}

/** True for a run of that pipeline, and for every run when `pipelineId` is undefined. */
export function isOfPipeline(head: AggregateHead, pipelineId: PipelineId | undefined): boolean {
  return pipelineId === undefined || head.summary.pipelineId === pipelineId;
}

export function noRun(runId: RunId, pipelineId: PipelineId | undefined): MillraceError {
  const where = pipelineId === undefined ? "" : ` of pipeline ${JSON.stringify(pipelineId)}`;
  return new MillraceError("not_found", `there is no run ${JSON.stringify(runId)}${where}`);
}
