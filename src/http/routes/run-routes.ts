/** Routes of runs: reading them, and the commands to them. */
import type { z } from "zod";
import { AgentEventShape, listAgentEvents, listAgentEventsQuery } from "../../app/agents/agent-events.ts";
import {
  getUpdatedStep,
  stepUpdateBody,
  UpdatedStepShape,
  updatedStep,
  updateStepRun,
} from "../../app/runs/update-step.ts";
import { cancelJob, cancelStep, CancelledJobShape, CancelledStepShape } from "../../app/commands/cancel.ts";
import { commandBody, CommandShape, pauseRun, resumeRun, stopRun } from "../../app/commands/run-commands.ts";
import type { AppContext } from "../../app/context.ts";
import type { StepRunView } from "../../app/runs/step-run-view.ts";
import {
  DeploymentPageShape,
  deploymentsQuery,
  EnvironmentPageShape,
  environmentsQuery,
  listDeployments,
  listEnvironments,
} from "../../app/runs/environments.ts";
import { findRuns, findRunsQuery, FoundRunsShape } from "../../app/runs/find-runs.ts";
import { renderRun, runQuery } from "../../app/runs/run-detail.ts";
import { readRunOutputs, RunOutputsShape } from "../../app/runs/run-outputs.ts";
import { RunDetailShape } from "../../app/runs/run-shapes.ts";
import { listRuns, listRunsQuery, RunPageShape } from "../../app/runs/runs.ts";
import { readTimeline, timelineQuery, TimelineShape } from "../../app/runs/timeline.ts";
import { cursorPageOf } from "../../app/shapes.ts";
import {
  readTestHistories,
  TestHistoryPageShape,
  testHistoriesQuery,
} from "../../app/statistics/read-test-histories.ts";
import { readStatistics, statisticsQuery, StatisticsShape } from "../../app/statistics/read-statistics.ts";
import { rerunBody, rerunRun, RerunShape } from "../../app/triggering/rerun.ts";
import { routesFor } from "../route.ts";
import { RUN_JSON } from "./run-answer.ts";

const route = routesFor<AppContext>("Runs");
const RUN = "/pipelines/:pipelineId/runs/:runId";

export const RUN_ROUTES = [
  route({
    method: "GET",
    path: "/runs",
    name: "findRuns",
    about: "Finds runs across pipelines, newest first.",
    query: findRunsQuery,
    answer: FoundRunsShape,
    handle: (context, { caller, query }) => findRuns(context, caller, query),
  }),
  route({
    method: "GET",
    path: "/environments",
    name: "listEnvironments",
    about: "Lists the environments to which pipelines deploy, with what is there and what was deployed last.",
    query: environmentsQuery,
    answer: EnvironmentPageShape,
    handle: (context, { caller, query }) => listEnvironments(context, caller, query),
  }),
  route({
    method: "GET",
    path: "/environments/deployments",
    name: "listDeployments",
    about: "Lists the deployments to an environment, newest first.",
    query: deploymentsQuery,
    answer: DeploymentPageShape,
    errors: ["not_found"],
    handle: (context, { caller, query }) => listDeployments(context, caller, query),
  }),
  route({
    method: "GET",
    path: "/pipelines/:pipelineId/runs",
    name: "listRuns",
    about: "Lists the runs of a pipeline, newest first.",
    query: listRunsQuery,
    answer: RunPageShape,
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => listRuns(context, caller, { ...query, ...params }),
  }),
  route({
    method: "GET",
    path: "/pipelines/:pipelineId/statistics",
    name: "readStatistics",
    about: "Reads how runs and jobs of a pipeline have ended on the last days, and how long they took and waited.",
    query: statisticsQuery,
    answer: StatisticsShape,
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => readStatistics(context, caller, { ...query, ...params }),
  }),
  route({
    method: "GET",
    path: "/pipelines/:pipelineId/tests",
    name: "listTests",
    about: "Lists the tests of a pipeline by their newest runs: flaky ones, failing ones, or the slowest.",
    query: testHistoriesQuery,
    answer: TestHistoryPageShape,
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => readTestHistories(context, caller, { ...query, ...params }),
  }),
  route({
    method: "GET",
    path: "/pipelines/runs/:runId",
    name: "getRun",
    about: "Reads a run with its jobs and steps.",
    query: runQuery,
    answer: RunDetailShape,
    errors: ["not_found"],
    tagged: (run) => run,
    encode(context, { caller, params, query: { attempts, jobs } }, over) {
      const request = { ...params, allAttempts: attempts === "all", jobs };
      return renderRun(context, caller, request, { format: RUN_JSON, over });
    },
  }),
  route({
    method: "GET",
    path: RUN,
    name: "getRunOfPipeline",
    about: "Reads a run with its jobs and steps, when it is one of the pipeline.",
    query: runQuery,
    answer: RunDetailShape,
    errors: ["not_found"],
    tagged: (run) => run,
    encode(context, { caller, params, query: { attempts, jobs } }, over) {
      const request = { ...params, allAttempts: attempts === "all", jobs };
      return renderRun(context, caller, request, { format: RUN_JSON, over });
    },
  }),
  route({
    method: "GET",
    path: "/pipelines/runs/:runId/timeline",
    name: "readTimeline",
    about: "Lists the transitions of a run with their causes.",
    query: timelineQuery,
    answer: TimelineShape,
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => readTimeline(context, caller, { ...query, ...params }),
  }),
  route({
    method: "GET",
    path: "/pipelines/runs/:runId/agent-events",
    name: "listAgentEvents",
    about: "Lists the events that agents reported about the steps of a run.",
    query: listAgentEventsQuery,
    answer: cursorPageOf(AgentEventShape),
    errors: ["not_found"],
    handle: (context, { caller, params, query }) => listAgentEvents(context, caller, { ...query, ...params }),
  }),
  route({
    method: "GET",
    path: "/pipelines/runs/:runId/outputs",
    name: "readRunOutputs",
    about: "Reads the outputs of the jobs of a run that have ended.",
    answer: RunOutputsShape,
    errors: ["not_found", "too_large"],
    handle: (context, { caller, params }) => readRunOutputs(context, caller, params),
  }),
  route({
    method: "POST",
    path: `${RUN}/rerun`,
    name: "rerunRun",
    about: "Runs a run again that has ended: all of it, what failed, or from a step on.",
    body: rerunBody,
    answer: RerunShape,
    errors: ["not_found", "conflict", "request_id_reused", "invalid_definition", "too_large"],
    handle: (context, { caller, params, body }) => rerunRun(context, caller, { ...body, ...params }),
  }),
  route({
    method: "POST",
    path: `${RUN}/jobs/:jobId/cancel`,
    name: "cancelJob",
    about: "Cancels one job of a run.",
    body: commandBody,
    answer: CancelledJobShape,
    errors: ["not_found", "conflict", "request_id_reused"],
    handle: (context, { caller, params, body }) => cancelJob(context, caller, { ...body, ...params }),
  }),
  route({
    method: "POST",
    path: `${RUN}/steps/:stepRunId/cancel`,
    name: "cancelStep",
    about: "Cancels one step that is queued or running.",
    body: commandBody,
    answer: CancelledStepShape,
    errors: ["not_found", "conflict", "request_id_reused"],
    handle: (context, { caller, params, body }) => cancelStep(context, caller, { ...body, ...params }),
  }),
  route({
    method: "GET",
    path: `${RUN}/steps/:stepRunId`,
    name: "getStepRun",
    about: "Reads the status of a step run, and what can be changed of it.",
    answer: UpdatedStepShape,
    errors: ["not_found"],
    tagged: changeableOfStep,
    handle: (context, { caller, params }) => getUpdatedStep(context, caller, params),
  }),
  route({
    method: "PATCH",
    path: `${RUN}/steps/:stepRunId`,
    name: "updateStepRun",
    about: "Changes the priority and the metadata of a step run that has not been dispatched.",
    body: stepUpdateBody,
    answer: UpdatedStepShape,
    errors: ["not_found", "conflict", "request_id_reused", "unavailable"],
    tagged: changeableOfStep,
    changes: { tagged: changeableOfStep },
    handle: async (context, { caller, params, body, match }) => {
      const demand = match && ((before: StepRunView) => match(updatedStep(before)));
      return updatedStep(await updateStepRun(context, caller, { ...body, ...params, match: demand }));
    },
  }),
  commandRoute("stopRun", `${RUN}/stop`, "Stops a run: what runs is cancelled, and nothing more begins.", stopRun),
  commandRoute("pauseRun", `${RUN}/pause`, "Pauses a run: steps that run go on, and nothing more begins.", pauseRun),
  commandRoute("resumeRun", `${RUN}/resume`, "Lets a paused run go on.", resumeRun),
];

function changeableOfStep({ priority, metadata }: z.infer<typeof UpdatedStepShape>) {
  return { priority, metadata };
}

function commandRoute(
  name: string,
  path: `${typeof RUN}/${"stop" | "pause" | "resume"}`,
  about: string,
  command: typeof stopRun,
) {
  return route({
    method: "POST",
    path,
    name,
    about,
    body: commandBody,
    answer: CommandShape,
    errors: ["not_found", "conflict", "request_id_reused"],
    handle: (context, { caller, params, body }) => command(context, caller, { ...body, ...params }),
  });
}
