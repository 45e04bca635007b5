/** steprun.v1: operations on single step runs. */
import type { StepRunServer } from "../../proto/generated/steprun/v1/steprun.ts";
import { adHocBody, createStepRun, deleteStepRun } from "../app/triggering/ad-hoc-runs.ts";
import { listFilesQuery, listStepRunArtifacts } from "../app/content/artifacts.ts";
import { cancelStep } from "../app/commands/cancel.ts";
import { demandVersion, stepUpdateBody, updateStepRun } from "../app/runs/update-step.ts";
import type { AppContext } from "../app/context.ts";
import { searchLogs } from "../app/logs/search-logs.ts";
import { getStepRun, listStepRuns, listStepRunsQuery } from "../app/runs/read-step-runs.ts";
import { retryStepRun } from "../app/triggering/retry-step-run.ts";
import { asId, type JobRunId, type PipelineId, type RunId, type StepRunId } from "../domain/ids.ts";
import { unary } from "./calls.ts";
import { nonEmpty, paging } from "./messages/fields.ts";
import { readCommandBody } from "./run-calls.ts";
import { readSearch, searchMessage } from "./messages/log-messages.ts";
import { parseMessage } from "./messages/parse-message.ts";
import { fileMessage, readSelector, readStep, stepRunRecord } from "./messages/step-run-messages.ts";
import { STEP_STATUSES, wordOf } from "./messages/words.ts";

export function stepRunService(context: AppContext): StepRunServer {
  return {
    createStepRun: unary(context, async ({ pipelineId, spec, requestId, triggeredBy }, { caller }) => {
      const body = parseMessage(adHocBody, {
        step: spec && readStep(spec),
        agentSelector: spec?.agentSelector && readSelector(spec.agentSelector),
        triggeredBy: nonEmpty(triggeredBy),
        requestId: nonEmpty(requestId),
      });
      const stepRun = await createStepRun(context, caller, { ...body, pipelineId: asId(pipelineId) });
      return { stepRun: stepRunRecord(stepRun) };
    }),

    getStepRun: unary(context, async ({ stepRunId }, { caller }) => ({
      stepRun: stepRunRecord(await getStepRun(context, caller, { stepRunId: asId(stepRunId) })),
    })),

    listStepRuns: unary(context, async (request, { caller }) => {
      const { runId, jobId, status, allAttempts } = request;
      const query = parseMessage(listStepRunsQuery, { ...paging(request), status: wordOf(STEP_STATUSES, status) });
      const { list, total } = await listStepRuns(context, caller, {
        ...query,
        ...(jobId === "" ? {} : { jobId: asId<JobRunId>(jobId) }),
        runId: asId<RunId>(runId),
        allAttempts,
      });
      return { stepRuns: list.map(stepRunRecord), total: BigInt(total) };
    }),

    updateStepRun: unary(context, async (request, { caller }) => {
      const { stepRunId, spec, priority, metadata, operator, requestId, expectedVersion } = request;
      const body = parseMessage(stepUpdateBody, {
        // A step that is given is refused as a whole.
        ...(spec === undefined && { priority, metadata: metadata?.entries }),
        operator: nonEmpty(operator),
        requestId: nonEmpty(requestId),
      });
      const match = expectedVersion === "" ? undefined : demandVersion(expectedVersion);
      const input = { ...body, match, stepRunId: asId<StepRunId>(stepRunId) };
      return { stepRun: stepRunRecord(await updateStepRun(context, caller, input)) };
    }),

    deleteStepRun: unary(context, async ({ stepRunId }, { caller }) => {
      await deleteStepRun(context, caller, { stepRunId: asId(stepRunId) });
      return {};
    }),

    cancelStepRun: unary(context, async (request, { caller }) => {
      const input = { ...readCommandBody(request), stepRunId: asId<StepRunId>(request.stepRunId) };
      return { status: STEP_STATUSES[(await cancelStep(context, caller, input)).status] };
    }),

    retryStepRun: unary(context, async ({ stepRunId, requestId }, { caller }) => ({
      stepRun: stepRunRecord(await retryStepRun(context, caller, { stepRunId: asId<StepRunId>(stepRunId), requestId })),
    })),

    listStepRunArtifacts: unary(context, async (request, { caller }) => {
      const query = parseMessage(listFilesQuery, paging(request));
      const input = { ...query, stepRunId: asId<StepRunId>(request.stepRunId) };
      const { list, total } = await listStepRunArtifacts(context, caller, input);
      return { artifacts: list.map(fileMessage), total: BigInt(total) };
    }),

    searchLogs: unary(context, async (request, { caller }) => {
      const searched = {
        stepRunId: nonEmpty(asId<StepRunId>(request.stepRunId)),
        runId: nonEmpty(asId<RunId>(request.runId)),
        pipelineId: nonEmpty(asId<PipelineId>(request.pipelineId)),
      };
      return searchMessage(await searchLogs(context, caller, { ...searched, query: readSearch(request) }));
    }),
  };
}
