/** Routes of pipelines, their definitions and triggers. */
import { z } from "zod";
import type { AppContext } from "../app/context.ts";
import { getSpec, saveBody, saveSpec, validateBody, validateSpec } from "../app/catalogue/definitions.ts";
import { planBody, planPipeline } from "../app/triggering/dry-run.ts";
import {
  createPipeline,
  createPipelineBody,
  deletePipeline,
  getPipeline,
  listPipelines,
  listPipelinesQuery,
  updatePipeline,
  updatePipelineBody,
} from "../app/catalogue/pipelines.ts";
import { triggerBody, triggerRun } from "../app/triggering/trigger.ts";
import { asId, type PipelineId } from "../domain/ids.ts";
import { answer } from "./answer.ts";
import { parseBody, parseDefinitionBody, parseQuery } from "./parse.ts";
import type { ApiRouter, RouteContext } from "./state.ts";

const deleteQuery = z.strictObject({
  force: z
    .enum(["true", "false"])
    .default("false")
    .transform((word) => word === "true"),
});

export function addPipelineRoutes(router: ApiRouter, context: AppContext): void {
  const at = (ctx: RouteContext) => asId<PipelineId>(ctx.params["pipelineId"]!);

  router.post(
    "/pipelines",
    answer(context, async (ctx) => createPipeline(context, ctx.state.caller, await parseBody(ctx, createPipelineBody))),
  );
  router.get(
    "/pipelines",
    answer(context, (ctx) => listPipelines(context, ctx.state.caller, parseQuery(ctx, listPipelinesQuery))),
  );
  router.get(
    "/pipelines/:pipelineId",
    answer(context, (ctx) => getPipeline(context, ctx.state.caller, { pipelineId: at(ctx) })),
  );
  router.put(
    "/pipelines/:pipelineId",
    answer(context, async (ctx) => {
      const body = await parseBody(ctx, updatePipelineBody);
      return updatePipeline(context, ctx.state.caller, { pipelineId: at(ctx), body });
    }),
  );
  router.delete(
    "/pipelines/:pipelineId",
    answer(context, (ctx) =>
      deletePipeline(context, ctx.state.caller, { pipelineId: at(ctx), ...parseQuery(ctx, deleteQuery) }),
    ),
  );

  router.get(
    "/pipelines/:pipelineId/spec",
    answer(context, (ctx) => getSpec(context, ctx.state.caller, { pipelineId: at(ctx) })),
  );
  router.post(
    "/pipelines/:pipelineId/spec/validate",
    answer(context, async (ctx) => {
      const body = await parseDefinitionBody(ctx, validateBody);
      return validateSpec(context, ctx.state.caller, { ...body, pipelineId: at(ctx) });
    }),
  );
  router.post(
    "/pipelines/:pipelineId/spec/save",
    answer(context, async (ctx) => {
      const body = await parseDefinitionBody(ctx, saveBody);
      return saveSpec(context, ctx.state.caller, { ...body, pipelineId: at(ctx) });
    }),
  );
  router.post(
    "/pipelines/:pipelineId/plan",
    answer(context, async (ctx) => {
      const body = await parseDefinitionBody(ctx, planBody);
      return planPipeline(context, ctx.state.caller, { ...body, pipelineId: at(ctx) });
    }),
  );
  router.post(
    "/pipelines/:pipelineId/trigger",
    answer(context, async (ctx) => {
      const body = await parseBody(ctx, triggerBody);
      return triggerRun(context, ctx.state.caller, { ...body, pipelineId: at(ctx) });
    }),
  );
}
