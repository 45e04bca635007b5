/** Lists runs, and reads one run in detail. */
import { z } from "zod";
import type { PipelineId, RunId } from "../../domain/ids.ts";
import { RUN_STATUS_CODES, type RunStatus } from "../../domain/status.ts";
import { authoriseUser, type Caller } from "../identity/access.ts";
import type { RunsContext } from "./context.ts";
import { isOfPipeline, findPipeline, noPlan, noRun } from "../lookups.ts";
import { readAgents } from "../agents/inventory.ts";
import { listFields, type ListView, listView, pageRequest, sortField } from "../lists.ts";
import { readWaitFacts } from "./wait-facts.ts";
import { type JobChoice, jobChoice } from "./job-choice.ts";
import { findRerun } from "./succession.ts";
import { type RunDetail, runDetail, type RunView, runView, waitsForAgent } from "./run-view.ts";

const RUN_STATUSES = Object.keys(RUN_STATUS_CODES) as RunStatus[];

export const listRunsQuery = z.strictObject({
  ...listFields,
  sort: sortField(["createdAt"], "-createdAt"),
  status: z.enum(RUN_STATUSES).optional(),
});

/** The runs of a pipeline. Throws `not_found` for an unknown pipeline. */
export async function listRuns(
  context: RunsContext,
  caller: Caller,
  input: z.output<typeof listRunsQuery> & { readonly pipelineId: PipelineId },
): Promise<ListView<RunView>> {
  authoriseUser(caller, "readRuns");
  const { pipelineId, status } = input;
  await findPipeline(context, pipelineId);
  const filter = status === undefined ? { pipelineId } : { pipelineId, status };
  const found = await context.stores.aggregates.listRuns(filter, pageRequest(input));
  const now = context.clock.now();
  const waiting = found.list.filter(({ summary }) => summary.waits?.reason === "agent");
  const agents = await readAgents(
    context,
    waiting.map(({ summary }) => summary.projectId),
  );
  return listView(found, input, (head) => runView(head, agents, now));
}

export const runQuery = z.strictObject({
  attempts: z.enum(["newest", "all"]).default("newest"),
  jobs: jobChoice.optional(),
});

/**
 * One run with the newest attempts of its jobs and steps, or with all attempts; of the jobs those in `jobs`, if it is
 * given. Throws `not_found`, also when `pipelineId` is given and the run belongs to another pipeline, and for a job that
 * the run does not have.
 */
export async function getRun(
  context: RunsContext,
  caller: Caller,
  input: {
    readonly runId: RunId;
    readonly pipelineId?: PipelineId;
    readonly allAttempts: boolean;
    readonly jobs?: JobChoice | undefined;
  },
): Promise<RunDetail> {
  authoriseUser(caller, "readRuns");
  const { runId, pipelineId, allAttempts, jobs: chosen } = input;
  const [aggregate, plan] = await Promise.all([
    context.stores.aggregates.load(runId),
    context.stores.plans.loadPlan(runId),
  ]);
  if (aggregate === undefined || !isOfPipeline(aggregate.head, pipelineId)) throw noRun(runId, pipelineId);
  if (plan === undefined) throw noPlan(runId);
  const [agents, waitFacts, rerun] = await Promise.all([
    readAgents(context, waitsForAgent(aggregate) ? [plan.projectId] : []),
    readWaitFacts(context.stores.aggregates, aggregate),
    findRerun(context, aggregate.head),
  ]);
  const facts = { aggregate, plan, agents, waitFacts };
  return runDetail({ ...facts, allAttempts, chosen, retriedBy: rerun, now: context.clock.now() });
}
