/** The audit log at the gRPC edge: each call of a method that changes something has a trail, which ends with the call. */
import type { ServerUnaryCall } from "@grpc/grpc-js";
import type { ObjectKind } from "../audit/entry.ts";
import { type RecordedChange, Trail, type TrailStart } from "../audit/trail.ts";
import { actorOf, trailGround } from "../app/audit-ground.ts";
import { givenTraceparent } from "../app/given-traceparent.ts";
import type { AppContext } from "../app/context.ts";
import { MillraceError } from "../domain/errors.ts";
import type { CallFacts } from "./call-facts.ts";

/** The methods that change something, each with its operation: one operation has one name through every door. */
export const RECORDED_METHODS: ReadonlyMap<string, string> = new Map([
  ["/agent.v1.Agent/Register", "registerAgent"],
  ["/agent.v1.Agent/Unregister", "unregisterAgent"],
  ["/agent.v1.Agent/DrainAgent", "drainAgent"],
  ["/agent.v1.Agent/UndrainAgent", "undrainAgent"],
  ["/agent.v1.Agent/UpdateLabels", "updateAgentLabels"],
  ["/pipeline.v1.Pipeline/CreatePipeline", "createPipeline"],
  ["/pipeline.v1.Pipeline/UpdatePipeline", "updatePipeline"],
  ["/pipeline.v1.Pipeline/DeletePipeline", "deletePipeline"],
  ["/pipeline.v1.Pipeline/TriggerPipeline", "triggerRun"],
  ["/pipeline.v1.Pipeline/StopPipeline", "stopRun"],
  ["/pipeline.v1.Pipeline/PausePipeline", "pauseRun"],
  ["/pipeline.v1.Pipeline/ResumePipeline", "resumeRun"],
  ["/pipeline.v1.Pipeline/RerunPipeline", "rerunRun"],
  ["/pipeline.v1.Pipeline/CancelJob", "cancelJob"],
  ["/pipeline.v1.Pipeline/SaveSpec", "saveSpec"],
  ["/pipeline.v1.Pipeline/RestoreRevision", "restoreRevision"],
  ["/pipeline.v1.Pipeline/MoveDefinition", "moveDefinition"],
  ["/pipeline.v1.Pipeline/MakePipelines", "makePipelines"],
  ["/pipeline.v1.Pipeline/ConnectHostHook", "connectHostHook"],
  ["/pipeline.v1.Pipeline/CreateProject", "createProject"],
  ["/pipeline.v1.Pipeline/UpdateProject", "changeProject"],
  ["/pipeline.v1.Pipeline/DeleteProject", "deleteProject"],
  ["/pipeline.v1.Pipeline/Approve", "approve"],
  ["/pipeline.v1.Pipeline/Reject", "reject"],
  ["/steprun.v1.StepRun/CreateStepRun", "createStepRun"],
  ["/steprun.v1.StepRun/UpdateStepRun", "updateStepRun"],
  ["/steprun.v1.StepRun/DeleteStepRun", "deleteStepRun"],
  ["/steprun.v1.StepRun/CancelStepRun", "cancelStep"],
  ["/steprun.v1.StepRun/RetryStepRun", "retryStepRun"],
]);

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;
/** Fields of requests that name an object, the narrowest first. */
const OBJECTS: readonly (readonly [string, ObjectKind])[] = [
  ["approvalId", "approval"],
  ["stepRunId", "step"],
  ["jobId", "job"],
  ["runId", "run"],
  ["pipelineId", "pipeline"],
  ["agentId", "agent"],
];

type AnyCall = Pick<ServerUnaryCall<unknown, unknown>, "getPath" | "getPeer" | "metadata" | "request">;

/** Serves a call. Of a method that changes something, the caller has a trail. */
export async function withTrail<T>(
  context: AppContext,
  call: AnyCall,
  facts: CallFacts,
  serve: (facts: CallFacts) => Promise<T>,
): Promise<T> {
  const operation = RECORDED_METHODS.get(call.getPath());
  if (operation === undefined) return serve(facts);
  const { caller } = facts;
  const given = call.metadata.get("x-request-id")[0]?.toString() ?? "";
  const requestId = REQUEST_ID.test(given) ? given : null;
  const start = { operation, actor: actorOf(caller), from: originOf(call), requestId };
  const trail = new Trail(trailGround(context), start);
  try {
    const traceparent = givenTraceparent(call.metadata.get("traceparent")[0]?.toString());
    const answer = await serve({ ...facts, caller: { ...caller, trail, ...traceparent } });
    await trail.close(objectOf(call.request));
    return answer;
  } catch (error) {
    if (error instanceof MillraceError && error.reason === "forbidden") {
      await trail.refuse(error, objectOf(call.request));
    }
    throw error;
  }
}

function originOf(call: AnyCall): TrailStart["from"] {
  const [, bracketed, plain] = /^(?:\[(.*)\]|([^:]*)):\d+$/.exec(call.getPeer()) ?? [];
  const userAgent = call.metadata.get("user-agent")[0]?.toString() ?? null;
  return { door: "grpc", address: (bracketed ?? plain ?? "").replace(/^::ffff:/, "").slice(0, 64) || null, userAgent };
}

function objectOf(request: unknown): RecordedChange {
  const fields = request as Readonly<Record<string, unknown>>;
  for (const [field, kind] of OBJECTS) {
    const id = fields[field];
    if (typeof id === "string" && id !== "") return { kind, id };
  }
  return { kind: "call", id: "" };
}
