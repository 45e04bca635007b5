/** The operations of pipeline.v1 on runs. */
import type {
  PausePipelineRequest,
  PipelineServer,
  ResumePipelineRequest,
  StopPipelineRequest,
} from "../../proto/generated/pipeline/v1/pipeline.ts";
import { cancelJob } from "../app/commands/cancel.ts";
import type { AppContext } from "../app/context.ts";
import { rerunBody, rerunRun } from "../app/triggering/rerun.ts";
import { commandBody, pauseRun, resumeRun, type RunCommand, stopRun } from "../app/commands/run-commands.ts";
import { readRunOutputs } from "../app/runs/run-outputs.ts";
import { renderRun, runQuery } from "../app/runs/run-detail.ts";
import { findRuns, findRunsQuery } from "../app/runs/find-runs.ts";
import { listRuns, listRunsQuery } from "../app/runs/runs.ts";
import { readTimeline, timelineQuery } from "../app/runs/timeline.ts";
import { triggerBody, triggerRun } from "../app/triggering/trigger.ts";
import { asId, type PipelineId } from "../domain/ids.ts";
import { encoded, unary } from "./calls.ts";
import { nonEmpty, pageMessage, placedPaging } from "./messages/fields.ts";
import { RUN_MESSAGE, runSummary, timelineMessage } from "./messages/run-messages.ts";
import { parseMessage } from "./messages/parse-message.ts";
import { JOB_STATUSES, RERUN_SCOPES, RUN_STATUSES, wordOf } from "./messages/words.ts";

type RunCalls = Pick<
  PipelineServer,
  | "triggerPipeline"
  | "stopPipeline"
  | "pausePipeline"
  | "resumePipeline"
  | "rerunPipeline"
  | "getPipelineRun"
  | "listPipelineRuns"
  | "findRuns"
  | "getRunTimeline"
  | "getRunOutputs"
  | "cancelJob"
>;

export function runCalls(context: AppContext): RunCalls {
  return {
    triggerPipeline: unary(context, async (request, { caller }) => {
      const { variables, triggeredBy, requestId, uploads, ref, branch, commit } = request;
      const body = parseMessage(triggerBody, {
        variables,
        triggeredBy: nonEmpty(triggeredBy),
        requestId: nonEmpty(requestId),
        ...(Object.keys(uploads).length > 0 && { uploads }),
        ref: nonEmpty(ref),
        branch: nonEmpty(branch),
        commit: nonEmpty(commit),
      });
      const { runId } = await triggerRun(context, caller, { ...body, pipelineId: asId(request.pipelineId) });
      return { runId };
    }),

    stopPipeline: unary(context, async (request, { caller }) => ({
      status: RUN_STATUSES[(await stopRun(context, caller, readCommand(request))).status],
    })),

    pausePipeline: unary(context, async (request, { caller }) => ({
      status: RUN_STATUSES[(await pauseRun(context, caller, readCommand(request))).status],
    })),

    resumePipeline: unary(context, async (request, { caller }) => ({
      status: RUN_STATUSES[(await resumeRun(context, caller, readCommand(request))).status],
    })),

    rerunPipeline: unary(context, async (request, { caller }) => {
      const body = parseMessage(rerunBody, {
        scope: wordOf(RERUN_SCOPES, request.scope),
        stepRunId: nonEmpty(request.stepRunId),
        triggeredBy: nonEmpty(request.triggeredBy),
        requestId: nonEmpty(request.requestId),
      });
      const ids = { ...pipelineFilter(request.pipelineId), runId: asId<RunCommand["runId"]>(request.runId) };
      const { runId, attempt } = await rerunRun(context, caller, { ...body, ...ids });
      return { runId, attempt };
    }),

    getPipelineRun: unary(context, async ({ pipelineId, runId, allAttempts, jobs }, { caller, hungUp }) => {
      const query = parseMessage(runQuery.pick({ jobs: true }), { jobs: nonEmpty(jobs) });
      const ids = { ...pipelineFilter(pipelineId), runId: asId<RunCommand["runId"]>(runId) };
      const request = { ...ids, allAttempts, ...query };
      return encoded(await renderRun(context, caller, request, { format: RUN_MESSAGE, over: hungUp }));
    }),

    listPipelineRuns: unary(context, async (request, { caller }) => {
      const { sort, status } = request;
      const fields = { ...placedPaging(request), sort: nonEmpty(sort), status: wordOf(RUN_STATUSES, status) };
      const query = parseMessage(listRunsQuery, fields);
      const found = await listRuns(context, caller, { ...query, pipelineId: asId(request.pipelineId) });
      return { runs: found.list.map(runSummary), ...pageMessage(found) };
    }),

    findRuns: unary(context, async (request, { caller }) => {
      const { mine, statuses, projectId, pipelineId, ref, trigger, triggeredBy, fromMs, beforeMs, after, limit } =
        request;
      const query = parseMessage(findRunsQuery, {
        mine: String(mine),
        projectId: nonEmpty(projectId),
        pipelineId: nonEmpty(pipelineId),
        status: nonEmpty(statuses.map((status) => wordOf(RUN_STATUSES, status) ?? "unspecified").join(",")),
        ref: nonEmpty(ref),
        trigger: nonEmpty(trigger),
        triggeredBy: nonEmpty(triggeredBy),
        from: momentOf(fromMs),
        before: momentOf(beforeMs),
        after: nonEmpty(after),
        limit: limit === 0 ? undefined : String(limit),
      });
      const { list, next } = await findRuns(context, caller, query);
      return { runs: list.map(runSummary), next: next ?? "" };
    }),

    getRunTimeline: unary(context, async ({ runId, after, limit }, { caller }) => {
      const query = parseMessage(timelineQuery, { after: Number(after), limit: limit === 0 ? undefined : limit });
      return timelineMessage(await readTimeline(context, caller, { ...query, runId: asId(runId) }));
    }),

    getRunOutputs: unary(context, async ({ runId }, { caller }) => {
      const { jobs } = await readRunOutputs(context, caller, { runId: asId(runId) });
      return { jobs: jobs.map((job) => ({ ...job, status: JOB_STATUSES[job.status] })) };
    }),

    cancelJob: unary(context, async (request, { caller }) => {
      const input = { ...readCommandBody(request), jobId: asId<JobId>(request.jobId) };
      return { status: JOB_STATUSES[(await cancelJob(context, caller, input)).status] };
    }),
  };
}

/** A time of a message as a query has it; undefined for none, which is 0. A time beyond the calendar is no time. */
function momentOf(ms: bigint): string | undefined {
  if (ms === 0n) return undefined;
  const date = new Date(Number(ms));
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString();
}

type JobId = Parameters<typeof cancelJob>[2]["jobId"];

/** The filter of a call by pipeline; no filter for the empty id, which stands for any pipeline. */
export function pipelineFilter(pipelineId: string): { readonly pipelineId?: PipelineId } {
  return pipelineId === "" ? {} : { pipelineId: asId<PipelineId>(pipelineId) };
}

export function readCommandBody({
  reason,
  operator,
  requestId,
}: Pick<StopPipelineRequest, "reason" | "operator" | "requestId">): ReturnType<typeof commandBody.parse> {
  return parseMessage(commandBody, {
    reason: nonEmpty(reason),
    operator: nonEmpty(operator),
    requestId: nonEmpty(requestId),
  });
}

function readCommand(request: StopPipelineRequest | PausePipelineRequest | ResumePipelineRequest): RunCommand {
  return { ...readCommandBody(request), ...pipelineFilter(request.pipelineId), runId: asId(request.runId) };
}
