/** pipeline.v1: definitions and their dry runs; what else the contract names is not available yet. */
import type { UntypedServiceImplementation } from "@grpc/grpc-js";
import {
  type PipelineServer,
  PipelineService,
  type PlanPipelineRequest,
  type SpecFormat,
} from "../../proto/generated/pipeline/v1/pipeline.ts";
import type { AppContext } from "../app/context.ts";
import { validateBody, validateSpec } from "../app/definitions.ts";
import { planBody, planPipeline } from "../app/dry-run.ts";
import { asId, type PipelineId } from "../domain/ids.ts";
import { unary } from "./calls.ts";
import { diagnosticMessage, planMessage, TRIGGER_KINDS } from "./plan-messages.ts";
import { parse } from "./status.ts";
import { unimplementedService } from "./unimplemented.ts";

export function pipelineService(context: AppContext): UntypedServiceImplementation {
  return { ...unimplementedService(PipelineService, context.log), ...available(context) };
}

function available(context: AppContext): Pick<PipelineServer, "validateSpec" | "planPipeline"> {
  return {
    validateSpec: unary(context, async ({ pipelineId, spec, format }, { caller }) => {
      const body = parse(validateBody, { spec, format: formatWord(format) });
      const view = await validateSpec(context, caller, { ...body, pipelineId: asId<PipelineId>(pipelineId) });
      return { ...view, diagnostics: view.diagnostics.map(diagnosticMessage) };
    }),

    planPipeline: unary(context, async (request, { caller }) => {
      const body = parse(planBody, readPlanRequest(request));
      const pipelineId = asId<PipelineId>(request.pipelineId);
      return planMessage(await planPipeline(context, caller, { ...body, pipelineId }));
    }),
  };
}

/** The body of the same call over HTTP. */
function readPlanRequest(request: PlanPipelineRequest): unknown {
  const { spec, format, triggerKind, triggerRef: ref, triggerPayload: payload, variables } = request;
  const kind = Object.entries(TRIGGER_KINDS).find(([, message]) => message === triggerKind)?.[0];
  return { spec, format: formatWord(format), trigger: { kind, ref, payload }, variables };
}

function formatWord(format: SpecFormat): "json" | "yaml" {
  return format === "SPEC_FORMAT_JSON" ? "json" : "yaml";
}
