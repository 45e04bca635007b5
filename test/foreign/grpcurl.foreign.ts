/** The contract as grpcurl sees it by reflection alone. Needs Go to build grpcurl, so it is not part of `npm test`. */
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { Installation } from "./installation.ts";

type Held = Awaited<ReturnType<Installation["holdStep"]>>;

const MODULES = [
  "agent.v1.Agent",
  "gateway.v1.Gateway",
  "pipeline.v1.Pipeline",
  "steprun.v1.StepRun",
  "stream.v1.Stream",
];
const PUBLIC = ["grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection"];
const UNREGISTER = "agent.v1.Agent.Unregister";
/** Statuses by which a server says that it has failed for an unknown reason. */
const FAULTS = [status.UNKNOWN, status.INTERNAL, status.DATA_LOSS];

describe("grpcurl", function () {
  this.timeout(180_000);
  let installation: Installation;
  let held: Held;
  before(async () => {
    installation = await Installation.start();
    held = await installation.holdStep("grpcurl");
  });
  after(() => installation.end());

  it("lists every service and describes every operation by reflection", async () => {
    expect((await installation.ask("list")).trim().split("\n")).to.have.members([...MODULES, ...PUBLIC]);
    for (const service of MODULES) expect(await installation.ask("describe", service)).to.include("rpc ");
  });

  it("checks the health without a token", async () => {
    expect(await installation.call("grpc.health.v1.Health/Check", {}, null)).to.deep.equal({
      code: status.OK,
      body: { status: "SERVING" },
    });
  });

  it("calls each operation, and gets a response or a refusal with its reason", async () => {
    const listed = await Promise.all(MODULES.map((service) => installation.ask("list", service)));
    const operations = listed.flatMap((text) => text.trim().split("\n"));
    // Unregister comes last, since other operations need the agent.
    operations.sort((one, other) => Number(one === UNREGISTER) - Number(other === UNREGISTER));
    const outcomes: string[] = [];
    for (const operation of operations) {
      const example = exampleOf(operation, held);
      const token = /^(agent|gateway)\./.test(operation) ? held.agentToken : installation.admin;
      const name = operation.replace(/\.(\w+)$/, "/$1");
      const { code, body } = await installation.call(name, example ?? {}, token);
      outcomes.push(`${operation}: ${status[code]} ${code === status.OK ? "" : body.message}`);
      if (example !== undefined) expect(status[code], operation).to.equal("OK");
      expect(FAULTS, outcomes.at(-1)).not.to.include(code);
      // A stream without messages stays open until the deadline of grpcurl.
      if (code !== status.OK && code !== status.DEADLINE_EXCEEDED) expectDetails(body, operation);
    }
    console.log(outcomes.map((line) => `      ${line}`).join("\n"));
  });

  it("shows what is wrong with each field of a request", async () => {
    const request = { name: "no spaces please", slots: 0 };
    const { code, body } = await installation.call("agent.v1.Agent/Register", request, installation.registration);
    expect(code).to.equal(status.INVALID_ARGUMENT);
    const [info, bad] = body.details;
    expect(info).to.include({ reason: "MALFORMED_REQUEST", domain: "millrace" });
    expect(bad.fieldViolations.map(({ field }: { readonly field: string }) => field)).to.include.members([
      "name",
      "slots",
    ]);
  });
});

/** A request that must succeed; undefined for an operation that is called with an empty request. */
function exampleOf(operation: string, { pipelineId, dispatch }: Held): object | undefined {
  const { runId, jobId, stepRunId, token } = dispatch;
  const held = [{ run_id: runId, job_id: jobId, step_run_id: stepRunId, token }];
  const beat = { boot_id: "boot-1", sequence: "1", held, held_job_ids: [jobId] };
  const spec = { jobs: [{ name: "a", steps: [{ name: "b", uses: "shell", args: { script: "true" } }] }] };
  const line = { line: "1", time_ms: "1700000000000", stream: "LOG_STREAM_STDOUT", level: "info", content: "hello" };
  const examples: Readonly<Record<string, object>> = {
    "agent.v1.Agent.Heartbeat": beat,
    "agent.v1.Agent.FetchStepRun": { boot_id: "boot-1", request_id: "second", free_slots: 0, wait_ms: 100 },
    "agent.v1.Agent.Connect": [
      { hello: { boot_id: "boot-1", slots: 1, version: "1", held, held_job_ids: [jobId] } },
      { heartbeat: beat },
    ],
    [UNREGISTER]: {},
    "agent.v1.Agent.ReportStepRunStatus": {
      report: { ...held[0], phase: "STEP_PHASE_STARTED", exit_code: -1, started_at_ms: String(Date.now()) },
    },
    "gateway.v1.Gateway.PushLogs": [{ run_id: runId, step_run_id: stepRunId, token, lines: [line] }],
    "pipeline.v1.Pipeline.ValidateSpec": { pipeline_id: pipelineId, spec },
    "pipeline.v1.Pipeline.PlanPipeline": { pipeline_id: pipelineId },
  };
  return examples[operation];
}

interface RichStatus {
  readonly details?: readonly { readonly "@type"?: string; readonly reason?: string; readonly domain?: string }[];
}

function expectDetails({ details = [] }: RichStatus, operation: string): void {
  const info = details.find(({ domain }) => domain === "millrace");
  expect(info?.reason, `${operation}: ${JSON.stringify(details)}`).to.match(/^[A-Z_]+$/);
}
