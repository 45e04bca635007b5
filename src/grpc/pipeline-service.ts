/** pipeline.v1: pipelines and their definitions. The calls on runs and approvals have files of their own. */
import {
  type PipelineServer,
  type PlanPipelineRequest,
  type SaveSpecRequest,
  type SpecFormat,
} from "../../proto/generated/pipeline/v1/pipeline.ts";
import type { AppContext } from "../app/context.ts";
import { getSpec, saveSpec, validateSpec } from "../app/catalogue/definitions.ts";
import { saveBody, specQuery, type SpecView, validateBody } from "../app/catalogue/spec-shapes.ts";
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
import { asId, type PipelineId } from "../domain/ids.ts";
import { approvalCalls } from "./approval-calls.ts";
import { unary } from "./calls.ts";
import { nonEmpty, pageMessage, placedPaging, unixMs } from "./messages/fields.ts";
import { pipelineBody, pipelineRecord, SAVE_MODES } from "./messages/pipeline-messages.ts";
import { diagnosticMessage, planMessage, TRIGGER_KINDS } from "./messages/plan-messages.ts";
import { savedMessage } from "./messages/saved-message.ts";
import { projectCalls } from "./project-calls.ts";
import { revisionCalls } from "./revision-calls.ts";
import { runCalls } from "./run-calls.ts";
import { parseMessage } from "./messages/parse-message.ts";
import { RUN_STATUSES, wordOf } from "./messages/words.ts";

export function pipelineService(context: AppContext): PipelineServer {
  return {
    ...recordCalls(context),
    ...definitionCalls(context),
    ...runCalls(context),
    ...approvalCalls(context),
    ...revisionCalls(context),
    ...projectCalls(context),
  };
}

type RecordCalls = Pick<
  PipelineServer,
  "createPipeline" | "updatePipeline" | "getPipeline" | "listPipelines" | "deletePipeline"
>;

function recordCalls(context: AppContext): RecordCalls {
  return {
    createPipeline: unary(context, async ({ fields, createdBy }, { caller }) => {
      const body = parseMessage(createPipelineBody, { ...pipelineBody(fields), createdBy: nonEmpty(createdBy) });
      return { pipeline: pipelineRecord(await createPipeline(context, caller, body)) };
    }),

    updatePipeline: unary(context, async ({ pipelineId, fields }, { caller }) => {
      const body = parseMessage(updatePipelineBody, pipelineBody(fields));
      const input = { pipelineId: asId<PipelineId>(pipelineId), body };
      return { pipeline: pipelineRecord(await updatePipeline(context, caller, input)) };
    }),

    getPipeline: unary(context, async ({ pipelineId }, { caller }) => ({
      pipeline: pipelineRecord(await getPipeline(context, caller, { pipelineId: asId(pipelineId) })),
    })),

    listPipelines: unary(context, async (request, { caller }) => {
      const query = parseMessage(listPipelinesQuery, {
        ...placedPaging(request),
        sort: nonEmpty(request.sort),
        projectId: nonEmpty(request.projectId),
        name: nonEmpty(request.name),
        status: wordOf(RUN_STATUSES, request.status),
      });
      const found = await listPipelines(context, caller, query);
      return { pipelines: found.list.map(pipelineRecord), ...pageMessage(found) };
    }),

    deletePipeline: unary(context, async ({ pipelineId, force }, { caller }) => {
      await deletePipeline(context, caller, { pipelineId: asId(pipelineId), force });
      return {};
    }),
  };
}

type DefinitionCalls = Pick<PipelineServer, "getSpec" | "validateSpec" | "saveSpec" | "planPipeline">;

function definitionCalls(context: AppContext): DefinitionCalls {
  return {
    getSpec: unary(context, async ({ pipelineId, ref }, { caller }) => {
      const query = parseMessage(specQuery, { ref: nonEmpty(ref) });
      const view = await getSpec(context, caller, { ...query, pipelineId: asId<PipelineId>(pipelineId) });
      const { spec, resolved, includes, format, branch, path, diagnostics, savedAt, ...others } = view;
      return {
        ...others,
        spec: (spec as Readonly<Record<string, unknown>> | null) ?? undefined,
        resolved: (resolved as Readonly<Record<string, unknown>> | null) ?? undefined,
        includes: includes.map((file) => ({ path: file.path, text: file.text ?? undefined })),
        format: FORMATS[format],
        branch: branch ?? "",
        path: path ?? "",
        diagnostics: diagnostics.map(diagnosticMessage),
        savedAtMs: unixMs(savedAt),
      };
    }),

    validateSpec: unary(context, async ({ pipelineId, spec, format }, { caller }) => {
      const body = parseMessage(validateBody, { spec, format: formatWord(format) });
      const view = await validateSpec(context, caller, { ...body, pipelineId: asId<PipelineId>(pipelineId) });
      return { ...view, diagnostics: view.diagnostics.map(diagnosticMessage) };
    }),

    saveSpec: unary(context, async (request, { caller }) => {
      const body = parseMessage(saveBody, readSaveRequest(request));
      const input = { ...body, pipelineId: asId<PipelineId>(request.pipelineId) };
      return savedMessage(await saveSpec(context, caller, input));
    }),

    planPipeline: unary(context, async (request, { caller }) => {
      const body = parseMessage(planBody, readPlanRequest(request));
      const pipelineId = asId<PipelineId>(request.pipelineId);
      return planMessage(await planPipeline(context, caller, { ...body, pipelineId }));
    }),
  };
}

/** The request as the body that the same call has over HTTP. */
function readSaveRequest(request: SaveSpecRequest): unknown {
  const { spec, format, expectedHeadCommitSha, commitMessage, requestId, editor, layout, saveMode } = request;
  return {
    spec,
    format: formatWord(format),
    expectedHeadCommitSha: nonEmpty(expectedHeadCommitSha),
    commitMessage: nonEmpty(commitMessage),
    requestId: nonEmpty(requestId),
    editor: nonEmpty(editor),
    layout: nonEmpty(layout),
    saveMode: wordOf(SAVE_MODES, saveMode),
  };
}

function readPlanRequest(request: PlanPipelineRequest): unknown {
  const { spec, format, triggerKind, triggerRef: ref, triggerPayload: payload, variables, uploads } = request;
  return {
    spec,
    format: formatWord(format),
    trigger: { kind: wordOf(TRIGGER_KINDS, triggerKind), ref, payload },
    variables,
    uploads,
  };
}

const FORMATS = {
  json: "SPEC_FORMAT_JSON",
  yaml: "SPEC_FORMAT_YAML",
} as const satisfies Record<SpecView["format"], SpecFormat>;

function formatWord(format: SpecFormat): SpecView["format"] {
  return wordOf(FORMATS, format) ?? "yaml";
}
