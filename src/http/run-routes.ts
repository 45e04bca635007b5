/** Routes of runs: reading them, and the commands to them. */
import type { AppContext } from "../app/context.ts";
import { cancelJob, cancelStep } from "../app/commands/cancel.ts";
import { commandBody, pauseRun, resumeRun, stopRun } from "../app/commands/run-commands.ts";
import { rerunBody, rerunRun } from "../app/triggering/rerun.ts";
import { readRunOutputs } from "../app/runs/run-outputs.ts";
import { listRuns, listRunsQuery } from "../app/runs/runs.ts";
import { renderRun, runQuery } from "../app/runs/run-detail.ts";
import { readTimeline, timelineQuery } from "../app/runs/timeline.ts";
import { asId, type JobRunId, type PipelineId, type RunId, type StepRunId } from "../domain/ids.ts";
import { answer, answerJson } from "./answer.ts";
import { parseBody, parseQuery } from "./parse.ts";
import { RUN_JSON } from "./run-answer.ts";
import type { ApiRouter, RouteContext } from "./state.ts";
import { listAgentEvents, listAgentEventsQuery } from "../app/agents/agent-events.ts";

export function addRunRoutes(router: ApiRouter, context: AppContext): void {
  const pipelineOf = (ctx: RouteContext) => asId<PipelineId>(ctx.params["pipelineId"]!);
  const runOf = (ctx: RouteContext) => asId<RunId>(ctx.params["runId"]!);
  const wanted = (ctx: RouteContext) => {
    const { attempts, jobs } = parseQuery(ctx, runQuery);
    return { allAttempts: attempts === "all", jobs };
  };

  router.get(
    "/pipelines/:pipelineId/runs",
    answer(context, (ctx) =>
      listRuns(context, ctx.state.caller, { ...parseQuery(ctx, listRunsQuery), pipelineId: pipelineOf(ctx) }),
    ),
  );
  router.get(
    "/pipelines/runs/:runId",
    answerJson((ctx, over) => {
      const request = { runId: runOf(ctx), ...wanted(ctx) };
      return renderRun(context, ctx.state.caller, request, { format: RUN_JSON, over });
    }),
  );
  router.get(
    "/pipelines/:pipelineId/runs/:runId",
    answerJson((ctx, over) => {
      const request = { runId: runOf(ctx), pipelineId: pipelineOf(ctx), ...wanted(ctx) };
      return renderRun(context, ctx.state.caller, request, { format: RUN_JSON, over });
    }),
  );
  router.get(
    "/pipelines/runs/:runId/timeline",
    answer(context, (ctx) =>
      readTimeline(context, ctx.state.caller, { ...parseQuery(ctx, timelineQuery), runId: runOf(ctx) }),
    ),
  );
  router.get(
    "/pipelines/runs/:runId/agent-events",
    answer(context, (ctx) =>
      listAgentEvents(context, ctx.state.caller, { ...parseQuery(ctx, listAgentEventsQuery), runId: runOf(ctx) }),
    ),
  );
  router.get(
    "/pipelines/runs/:runId/outputs",
    answer(context, (ctx) => readRunOutputs(context, ctx.state.caller, { runId: runOf(ctx) })),
  );
  router.post(
    "/pipelines/:pipelineId/runs/:runId/rerun",
    answer(context, async (ctx) => {
      const body = await parseBody(ctx, rerunBody);
      return rerunRun(context, ctx.state.caller, { ...body, pipelineId: pipelineOf(ctx), runId: runOf(ctx) });
    }),
  );
  router.post(
    "/pipelines/:pipelineId/runs/:runId/jobs/:jobId/cancel",
    answer(context, async (ctx) => {
      const body = await parseBody(ctx, commandBody);
      const jobId = asId<JobRunId>(ctx.params["jobId"]!);
      return cancelJob(context, ctx.state.caller, { ...body, pipelineId: pipelineOf(ctx), runId: runOf(ctx), jobId });
    }),
  );
  router.post(
    "/pipelines/:pipelineId/runs/:runId/steps/:stepRunId/cancel",
    answer(context, async (ctx) => {
      const body = await parseBody(ctx, commandBody);
      const stepRunId = asId<StepRunId>(ctx.params["stepRunId"]!);
      const ids = { pipelineId: pipelineOf(ctx), runId: runOf(ctx), stepRunId };
      return cancelStep(context, ctx.state.caller, { ...body, ...ids });
    }),
  );
  for (const [word, command] of [
    ["stop", stopRun],
    ["pause", pauseRun],
    ["resume", resumeRun],
  ] as const) {
    router.post(
      `/pipelines/:pipelineId/runs/:runId/${word}`,
      answer(context, async (ctx) => {
        const body = await parseBody(ctx, commandBody);
        return command(context, ctx.state.caller, { ...body, pipelineId: pipelineOf(ctx), runId: runOf(ctx) });
      }),
    );
  }
}
