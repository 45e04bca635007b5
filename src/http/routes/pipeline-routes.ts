/** Routes of pipelines, their definitions and triggers. */
import { getSpec, saveSpec, validateSpec } from "../../app/catalogue/definitions.ts";
import {
  saveBody,
  SavedSpecShape,
  specQuery,
  SpecShape,
  type SpecView,
  validateBody,
  ValidationShape,
} from "../../app/catalogue/spec-shapes.ts";
import {
  createPipeline,
  createPipelineBody,
  deletePipeline,
  getPipeline,
  listPipelines,
  listPipelinesQuery,
  PipelinePageShape,
  PipelineShape,
  type PipelineView,
  updatePipeline,
  updatePipelineBody,
} from "../../app/catalogue/pipelines.ts";
import type { AppContext } from "../../app/context.ts";
import { moveBody, moveDefinition } from "../../app/git/move-definition.ts";
import { planBody, planPipeline } from "../../app/triggering/dry-run.ts";
import { PlanShape } from "../../app/triggering/plan-shape.ts";
import { triggerBody, TriggeredRunShape, triggerRun } from "../../app/triggering/trigger.ts";
import { forceQuery } from "../request/force-query.ts";
import { parseDefinitionBody, parseMostly } from "../request/parse.ts";
import { type Call, routesFor } from "../route.ts";

const route = routesFor<AppContext>("Pipelines");

/** Runs change the status of a pipeline without anyone changing the pipeline. */
function tagged({ status: _s, lastRun: _r, lastRuns: _l, ...changeable }: PipelineView): unknown {
  return changeable;
}

/** Problems may come and go with the plugins of the registry. */
export function taggedSpec({ diagnostics: _d, ...changeable }: SpecView): unknown {
  return changeable;
}

const changes = {
  read: (
    context: AppContext,
    { caller, params }: Pick<Call<"/pipelines/:pipelineId", null, null>, "caller" | "params">,
  ) => getPipeline(context, caller, params),
  tagged,
};

export const PIPELINE_ROUTES = [
  route({
    method: "POST",
    path: "/pipelines",
    name: "createPipeline",
    about: "Creates a pipeline, which has no definition yet.",
    body: createPipelineBody,
    answer: PipelineShape,
    errors: ["already_exists", "conflict", "request_id_reused", "git_refused"],
    creates: true,
    handle: (context, { caller, body, requestId }) => createPipeline(context, caller, { ...body, requestId }),
  }),
  route({
    method: "GET",
    path: "/pipelines",
    name: "listPipelines",
    about: "Lists pipelines, newest first.",
    query: listPipelinesQuery,
    answer: PipelinePageShape,
    handle: (context, { caller, query }) => listPipelines(context, caller, query),
  }),
  route({
    method: "GET",
    path: "/pipelines/:pipelineId",
    name: "getPipeline",
    about: "Reads a pipeline.",
    answer: PipelineShape,
    errors: ["not_found"],
    tagged,
    handle: (context, { caller, params }) => getPipeline(context, caller, params),
  }),
  route({
    method: "PUT",
    path: "/pipelines/:pipelineId",
    name: "updatePipeline",
    about: "Replaces the fields of a pipeline that are present.",
    body: updatePipelineBody,
    answer: PipelineShape,
    errors: ["not_found", "already_exists", "git_refused"],
    tagged,
    changes,
    handle: (context, { caller, params, body, match }) => updatePipeline(context, caller, { ...params, body, match }),
  }),
  route({
    method: "DELETE",
    path: "/pipelines/:pipelineId",
    name: "deletePipeline",
    about: "Deletes a pipeline; with `force` also one with live runs, which are stopped.",
    query: forceQuery,
    answer: null,
    errors: ["not_found", "conflict"],
    changes,
    handle: (context, { caller, params, query, match }) =>
      deletePipeline(context, caller, { ...params, ...query, match }),
  }),
  route({
    method: "GET",
    path: "/pipelines/:pipelineId/spec",
    name: "getSpec",
    about: "Reads the definition of a pipeline.",
    query: specQuery,
    answer: SpecShape,
    errors: ["not_found", "git_refused"],
    tagged: taggedSpec,
    handle: (context, { caller, params, query }) => getSpec(context, caller, { ...query, ...params }),
  }),
  route({
    method: "POST",
    path: "/pipelines/:pipelineId/spec/validate",
    readsOnly: true,
    name: "validateSpec",
    about: "Checks a definition and stores nothing; a bad definition is an answer and not an error.",
    body: validateBody,
    readBody: parseDefinitionBody,
    answer: ValidationShape,
    errors: ["not_found", "too_large"],
    handle: (context, { caller, params, body }) => validateSpec(context, caller, { ...body, ...params }),
  }),
  route({
    method: "POST",
    path: "/pipelines/:pipelineId/spec/save",
    name: "saveSpec",
    about: "Makes a definition the head of the pipeline.",
    body: saveBody,
    readBody: parseDefinitionBody,
    answer: SavedSpecShape,
    errors: ["not_found", "invalid_definition", "too_large", "head_moved", "request_id_reused", "git_refused"],
    changes: { tagged: taggedSpec },
    handle: (context, { caller, params, body, match }) => saveSpec(context, caller, { ...body, ...params, match }),
  }),
  route({
    method: "POST",
    path: "/pipelines/:pipelineId/spec/move",
    name: "moveDefinition",
    about: "Moves an inline definition into a Git repository, or back.",
    body: moveBody,
    answer: PipelineShape,
    errors: ["not_found", "conflict", "invalid_definition", "head_moved", "request_id_reused", "git_refused"],
    handle: (context, { caller, params, body }) => moveDefinition(context, caller, { ...body, ...params }),
  }),
  route({
    method: "POST",
    path: "/pipelines/:pipelineId/plan",
    readsOnly: true,
    name: "planPipeline",
    about: "Plans a run and stores nothing.",
    body: planBody,
    readBody: parseDefinitionBody,
    answer: PlanShape,
    errors: ["not_found", "conflict", "invalid_definition", "too_large", "git_refused"],
    handle: (context, { caller, params, body }) => planPipeline(context, caller, { ...body, ...params }),
  }),
  route({
    method: "POST",
    path: "/pipelines/:pipelineId/trigger",
    name: "triggerRun",
    about: "Starts a run of the definition at the head; of one in Git also at a branch, a tag or a commit.",
    body: triggerBody,
    readBody: parseMostly("variables", triggerBody.shape.variables),
    answer: TriggeredRunShape,
    errors: ["not_found", "conflict", "invalid_definition", "too_large", "request_id_reused", "git_refused"],
    handle: (context, { caller, params, body }) => triggerRun(context, caller, Object.assign({}, body, params)),
  }),
];
