/** One row for each gRPC method of users: the operation that it needs, and a request that shows whether the caller may. */
import { Client, credentials, type MethodDefinition, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { AuditService } from "../../proto/generated/audit/v1/audit.ts";
import { AgentService } from "../../proto/generated/agent/v1/agent.ts";
import { ExternalScalerService } from "../../proto/generated/externalscaler/externalscaler.ts";
import { GatewayService } from "../../proto/generated/gateway/v1/gateway.ts";
import {
  DefinitionPlace,
  PipelineFields,
  PipelineService,
  RerunScope,
} from "../../proto/generated/pipeline/v1/pipeline.ts";
import { StepRunService, StepRunSpec } from "../../proto/generated/steprun/v1/steprun.ts";
import { StreamService } from "../../proto/generated/stream/v1/stream.ts";
import type { UserOperation } from "../../src/app/identity/access.ts";
import type { World } from "./world.ts";

type AnyMethod = MethodDefinition<unknown, unknown>;

/** Every method of the gRPC server that needs a token, by service and name. */
export const GRPC_METHODS: ReadonlyMap<string, AnyMethod> = new Map(
  Object.entries({
    AgentService,
    AuditService,
    ExternalScalerService,
    GatewayService,
    PipelineService,
    StepRunService,
    StreamService,
  }).flatMap(([service, methods]) =>
    Object.entries(methods).map(([name, method]) => [`${service}.${name}`, method as unknown as AnyMethod] as const),
  ),
);

export interface GrpcRow {
  readonly method: string;
  /** `agents`: only agents may call it, with tokens of their own. */
  readonly operation: UserOperation | "agents";
  readonly request?: (world: World) => object;
  readonly kind?: "list" | "filtered" | "inBody";
}

/** A message whose fields are all absent. */
const NOTHING = Buffer.alloc(0);
let count = 0;
/** What agents send: a request has to be well-formed before its caller counts. */
const AGENT = { name: "an-agent", slots: 1 };
const SPEC = { jobs: [{ name: "one", steps: [{ name: "s", uses: "shell", args: { script: "true" } }] }] };
const onPipeline = ({ pipelineId }: World) => ({ pipelineId });
const onRevision = ({ pipelineId, revisionId }: World) => ({ pipelineId, revisionId });
const onProject = ({ projectId }: World) => ({ projectId });
const onRun = ({ runId }: World) => ({ runId });
const onStep = ({ stepRunId }: World) => ({ stepRunId });
const onPipelineRun = ({ pipelineId, runId }: World) => ({ pipelineId, runId });
const onApproval = ({ gatedPipelineId, gatedRunId, approvalId }: World) => ({
  pipelineId: gatedPipelineId,
  runId: gatedRunId,
  approvalId,
});
/** An address that is refused once the caller may make the call. */
const NO_REPOSITORY = { repoUrl: "https://127.0.0.1/x.git" };
type Listed = readonly [string, GrpcRow["operation"], GrpcRow["request"]?, GrpcRow["kind"]?];
const onAgent = ({ agentId }: World) => ({ agentId });
const scaler = () => ({ scalerMetadata: { labels: "" } });
/** The methods of agent.v1 that users call. */
const INVENTORY: readonly Listed[] = [
  ["listAgents", "readAgents", undefined, "list"],
  ["getAgent", "readAgents", onAgent],
  ["drainAgent", "manageAgents", onAgent],
  ["undrainAgent", "manageAgents", onAgent],
];
const rowsOf = (service: string, rows: readonly Listed[]) =>
  rows.map(([name, operation, request, kind]): GrpcRow => ({
    method: `${service}.${name}`,
    operation,
    ...(request && { request }),
    ...(kind && { kind }),
  }));

export const GRPC_ROWS: readonly GrpcRow[] = [
  ...rowsOf("PipelineService", [
    [
      "createPipeline",
      "writePipelines",
      ({ projectId }) => ({ fields: { ...PipelineFields.decode(NOTHING), name: `g${++count}`, projectId } }),
      "inBody",
    ],
    [
      "updatePipeline",
      "writePipelines",
      ({ pipelineId }) => ({ pipelineId, fields: { ...PipelineFields.decode(NOTHING), description: "d" } }),
    ],
    ["getPipeline", "readPipelines", onPipeline],
    ["listPipelines", "readPipelines", undefined, "list"],
    // Its runs are live, so that it stays.
    ["deletePipeline", "writePipelines", ({ gatedPipelineId }) => ({ pipelineId: gatedPipelineId })],
    ["triggerPipeline", "triggerRun", onPipeline],
    ["stopPipeline", "controlRun", onPipelineRun],
    ["pausePipeline", "controlRun", onPipelineRun],
    ["resumePipeline", "controlRun", onPipelineRun],
    ["rerunPipeline", "triggerRun", (world) => ({ ...onPipelineRun(world), scope: RerunScope.RERUN_SCOPE_ALL })],
    ["getPipelineRun", "readRuns", onPipelineRun],
    ["listPipelineRuns", "readRuns", onPipeline],
    ["findRuns", "readRuns", undefined, "list"],
    ["getRunTimeline", "readRuns", onRun],
    ["getRunOutputs", "readRuns", onRun],
    ["cancelJob", "controlRun", ({ jobId }) => ({ jobId })],
    ["getSpec", "readPipelines", onPipeline],
    ["validateSpec", "validateDefinition", (world) => ({ ...onPipeline(world), spec: SPEC })],
    ["saveSpec", "writeDefinitions", (world) => ({ ...onPipeline(world), spec: SPEC })],
    ["planPipeline", "validateDefinition", onPipeline],
    ["listApprovals", "readApprovals", undefined, "list"],
    ["listRunApprovals", "readApprovals", ({ gatedRunId }) => ({ runId: gatedRunId })],
    ["approve", "decideApprovals", onApproval],
    ["reject", "decideApprovals", onApproval],
    ["listRevisions", "readPipelines", onPipeline],
    ["getRevision", "readPipelines", onRevision],
    ["diffRevisions", "readPipelines", onRevision],
    ["restoreRevision", "writeDefinitions", onRevision],
    ["listProjects", "readProjects", undefined, "list"],
    ["getProject", "readProjects", onProject],
    ["createProject", "createProjects", ({ tenantId }) => ({ name: `g${++count}`, tenantId }), "inBody"],
    ["updateProject", "manageProjects", (world) => ({ ...onProject(world), description: "d" })],
    ["deleteProject", "deleteProjects", onProject],
    [
      "moveDefinition",
      "writeDefinitions",
      (world) => ({ ...onPipeline(world), ...NO_REPOSITORY, to: DefinitionPlace.DEFINITION_PLACE_GIT }),
    ],
    ["checkRepository", "writePipelines", onPipeline],
    ["discoverDefinitions", "writePipelines", (world) => ({ ...onProject(world), ...NO_REPOSITORY })],
    [
      "makePipelines",
      "writePipelines",
      (world) => ({ ...onProject(world), ...NO_REPOSITORY, files: [{ path: "a.yaml", name: "a" }] }),
    ],
    ["checkHostHook", "manageHooks", onPipeline],
    ["connectHostHook", "manageHooks", onPipeline],
    ["listCommitStatuses", "readRuns", onRun],
  ]),
  ...rowsOf("StepRunService", [
    [
      "createStepRun",
      "runAdHocSteps",
      ({ pipelineId }) => ({
        pipelineId,
        spec: { ...StepRunSpec.decode(NOTHING), name: "s", uses: "shell", argsJson: `{"script":"true"}` },
      }),
    ],
    ["getStepRun", "readRuns", onStep],
    ["listStepRuns", "readRuns", onRun],
    ["updateStepRun", "updateStepRuns", onStep],
    ["deleteStepRun", "runAdHocSteps", onStep],
    ["cancelStepRun", "controlRun", onStep],
    ["retryStepRun", "triggerRun", onStep],
    ["listStepRunArtifacts", "readArtifacts", onStep],
    ["searchLogs", "readLogs", (world) => ({ ...onStep(world), text: "x" })],
  ]),
  ...rowsOf("ExternalScalerService", [
    ["isActive", "readRuns", scaler, "list"],
    ["streamIsActive", "readRuns", scaler, "list"],
    ["getMetricSpec", "readRuns", scaler, "list"],
    ["getMetrics", "readRuns", () => ({ scaledObjectRef: scaler(), metricName: "millrace-jobs" }), "list"],
  ]),
  ...rowsOf("AuditService", [["listAuditEntries", "readAudit", undefined, "filtered"]]),
  ...rowsOf("StreamService", [
    ["streamStepRunStatus", "readEvents", onStep],
    ["streamJobStatus", "readEvents", ({ jobId }) => ({ jobId })],
    ["streamPipelineStatus", "readEvents", onRun],
    ["streamEvents", "readEvents", onRun],
    ["streamAgentStatus", "readAgents", ({ agentId }) => ({ agentIds: [agentId] })],
    ["streamRuns", "readRuns", undefined, "list"],
    ["agentChannel", "agents"],
  ]),
  ...rowsOf("AgentService", INVENTORY),
  ...[...GRPC_METHODS.keys()]
    .filter((method) => /^(?:AgentService|GatewayService)\./.test(method))
    .filter((method) => INVENTORY.every(([name]) => method !== `AgentService.${name}`))
    .map((method): GrpcRow => ({ method, operation: "agents", request: (world) => ({ ...onStep(world), ...AGENT }) })),
];

export interface GrpcOutcome {
  readonly code: status;
  readonly text: string;
}

/** Calls a method, and answers its status; for a stream that of its first answer. */
export class GrpcCaller {
  readonly #client: Client;

  constructor(address: string) {
    this.#client = new Client(address, credentials.createInsecure());
  }

  close(): void {
    this.#client.close();
  }

  call(row: GrpcRow, token: string | null, world: World): Promise<GrpcOutcome> {
    const { path, requestSerialize, responseDeserialize, requestDeserialize, ...kind } = GRPC_METHODS.get(row.method)!;
    const request = { ...(requestDeserialize(NOTHING) as object), ...row.request?.(world) };
    const metadata = new Metadata();
    if (token !== null) metadata.set("authorization", `Bearer ${token}`);
    const options = { deadline: Date.now() + 10_000 };
    return new Promise((resolve) => {
      const settle = (error: ServiceError | null, response?: unknown): void =>
        resolve(
          error === null
            ? { code: status.OK, text: JSON.stringify(response ?? null, (_, value: unknown) => plain(value)) }
            : { code: error.code, text: error.details },
        );
      if (!kind.responseStream) {
        this.#client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, metadata, options, settle);
        return;
      }
      const stream = kind.requestStream
        ? this.#client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata, options)
        : this.#client.makeServerStreamRequest(path, requestSerialize, responseDeserialize, request, metadata, options);
      stream.once("data", (answer: unknown) => {
        settle(null, answer);
        stream.cancel();
      });
      stream.once("end", () => settle(null));
      stream.on("error", settle);
      stream.resume();
    });
  }
}

function plain(value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}
