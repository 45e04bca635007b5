import { credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { expect } from "chai";
import {
  PipelineClient,
  PipelineService,
  type PlanPipelineRequest,
  type PlanPipelineResponse,
  type ValidateSpecRequest,
  type ValidateSpecResponse,
} from "../../proto/generated/pipeline/v1/pipeline.ts";
import { authenticate } from "../../src/app/identity/access.ts";
import { firstStart } from "../support/first-start.ts";
import { saveSpec } from "../../src/app/catalogue/definitions.ts";
import { saveBody } from "../../src/app/catalogue/spec-shapes.ts";
import { createPipeline, createPipelineBody } from "../../src/app/catalogue/pipelines.ts";
import { issueToken } from "../../src/app/identity/tokens.ts";
import { newId, type PipelineId } from "../../src/domain/ids.ts";
import { bearer, Channel, Gateway, reasonOf, refusal } from "./gateway.ts";

const step = { name: "say", uses: "shell", args: { script: "echo" } };
const SPEC = {
  jobs: [
    {
      name: "build",
      matrix: { axes: { node: [20, 22] } },
      agentSelector: { matchLabels: { os: "linux" } },
      env: { COMMIT: "${{ trigger.head.sha }}" },
      steps: [step],
    },
  ],
};

describe("definitions over gRPC", () => {
  let gateway: Gateway;
  let client: PipelineClient;
  let adminToken: string;
  let pipelineId: PipelineId;

  before(async () => {
    gateway = await Gateway.start();
    client = new PipelineClient(`127.0.0.1:${gateway.port}`, credentials.createInsecure());
    adminToken = (await firstStart(gateway.context)).adminToken!;
    pipelineId = await newPipeline("p");
  });
  after(async () => {
    client.close();
    await gateway.stop();
  });

  const admin = () => authenticate(gateway.context, adminToken);

  async function newPipeline(name: string): Promise<PipelineId> {
    const body = createPipelineBody.parse({ name, defaultBranch: "main" });
    return (await createPipeline(gateway.context, await admin(), body)).pipelineId;
  }

  async function viewerToken(): Promise<string> {
    const userId = newId("usr");
    const user = { userId, name: userId, role: "viewer", passwordHash: "", createdAt: 0, disabled: false } as const;
    await gateway.stores.identity.createUser(user);
    return issueToken(gateway.context, { kind: "personal", subject: userId, name: "test" });
  }

  describe("ValidateSpec", () => {
    it("answers the problems of a definition with their places, as HTTP does", async () => {
      const spec = { jobs: [{ name: "build", steps: [{ ...step, colour: 1 }] }] };
      for (const format of ["SPEC_FORMAT_UNSPECIFIED", "SPEC_FORMAT_YAML", "SPEC_FORMAT_JSON"] as const) {
        const { diagnostics, ...rest } = await validate({ spec, format });
        expect(rest).to.deep.equal({ valid: false, jobsCount: 0, stepsCount: 0 });
        expect(diagnostics).to.have.length(1);
        const { line, column, endLine, endColumn, ...said } = diagnostics[0]!;
        expect(said).to.deep.include({ code: "unknown-key", severity: "SEVERITY_ERROR" });
        expect(said.pointer).to.equal("/jobs/0/steps/0/colour");
        expect(said.hint).to.contain("known keys");
        expect(line).to.equal(format === "SPEC_FORMAT_JSON" ? 12 : 8);
        expect([endLine, endColumn - column]).to.deep.equal([line, format === "SPEC_FORMAT_JSON" ? 8 : 6]);
      }
    });

    it("counts the jobs and steps of a valid definition, and answers its warnings", async () => {
      const script = "echo ${{ trigger.ref }}";
      const spec = { jobs: [{ ...SPEC.jobs[0], steps: [{ ...step, args: { script } }] }] };
      const { diagnostics, ...rest } = await validate({ spec }, await viewerToken());
      expect(rest).to.deep.equal({ valid: true, jobsCount: 2, stepsCount: 2 });
      expect(diagnostics.map(({ code, severity }) => [code, severity])).to.deep.equal([
        ["script-injection", "SEVERITY_WARNING"],
      ]);
    });

    it("needs a definition", async () => {
      const error = await refusal(validate({}));
      expect([error.code, reasonOf(error)]).to.deep.equal([status.INVALID_ARGUMENT, "malformed_request"]);
      expect(error.details).to.contain("/spec");
    });

    it("refuses a definition that is nested too deeply, and still works", async () => {
      let spec: Buffer = Buffer.alloc(0);
      for (let depth = 0; depth < 5_000; depth++) {
        const value = field(5, spec);
        spec = field(1, Buffer.concat([field(1, Buffer.from("a")), field(2, value)]));
      }
      const error = await refusal(
        new Promise((resolve, reject) => {
          const { path } = PipelineService.validateSpec;
          const same = (message: Buffer) => message;
          client.makeUnaryRequest(path, same, same, field(2, spec), bearer(adminToken), settle(resolve, reject));
        }),
      );
      expect([error.code, reasonOf(error)]).to.deep.equal([status.INVALID_ARGUMENT, "malformed_request"]);
      expect((await validate({ spec: SPEC })).valid).to.equal(true);
    });
  });

  describe("PlanPipeline", () => {
    it("answers what a trigger would run, with the agents for each job", async () => {
      const agent = await gateway.register("builder", 1, { os: "linux" });
      await gateway.register("absent", 1, { os: "linux" });
      await Channel.open(gateway, agent, { labels: { os: "linux" } });
      const plan = await planPipeline({
        spec: SPEC,
        triggerKind: "TRIGGER_KIND_EVENT",
        triggerRef: "v1",
        triggerPayload: { head: { sha: "abc" } },
      });
      expect(plan).to.deep.include({
        trigger: { kind: "TRIGGER_KIND_EVENT", ref: "v1" },
        jobsCount: 2,
        stepsCount: 2,
        warnings: [],
      });
      expect(plan.stages).to.have.length(1);
      const [first, second] = plan.stages[0]!.jobs;
      const verdict = { outcome: "PLAN_OUTCOME_RUNS", decidedBy: "success()", certain: false };
      expect(first).to.deep.include({
        name: "build (node=20)",
        baseName: "build",
        matrix: { node: "20" },
        selector: ["os=linux"],
        verdict,
      });
      expect(first!.steps).to.deep.equal([{ name: "say", id: "", uses: "shell", when: "success()", verdict }]);
      expect(second!.agents).to.deep.equal({
        online: 1,
        matches: 1,
        matching: [{ agentId: agent.agentId, name: "builder" }],
        failing: [],
      });
      await gateway.hangUp();
    });

    it("uses the saved definition, a manual trigger and the default branch by default", async () => {
      const id = await newPipeline("saved");
      await saveSpec(gateway.context, await admin(), { ...saveBody.parse({ spec: SPEC }), pipelineId: id });
      const { trigger, jobsCount, warnings } = await planPipeline({ pipelineId: id });
      expect({ trigger, jobsCount }).to.deep.equal({
        trigger: { kind: "TRIGGER_KIND_MANUAL", ref: "main" },
        jobsCount: 2,
      });
      expect(warnings.map(({ code }) => code)).to.deep.equal(["undefined-value"]);
    });

    it("refuses with the status and the reason of the error table", async () => {
      const bad = { jobs: [{ name: "a", needs: ["b"], steps: [step] }] };
      const { metadata: agent } = await gateway.register("curious");
      const outcomes: [number, string][] = [];
      for (const refused of [
        planPipeline({ spec: bad }),
        planPipeline({ spec: SPEC, pipelineId: "pl_none" }),
        planPipeline({}),
        planPipeline({ spec: SPEC, uploads: { A: "upl_none" } }),
        planPipeline({ spec: SPEC }, ""),
        planPipeline({ spec: SPEC }, agent),
      ]) {
        const error = await refusal(refused);
        outcomes.push([error.code, reasonOf(error)]);
      }
      expect(outcomes).to.deep.equal([
        [status.INVALID_ARGUMENT, "invalid_definition"],
        [status.NOT_FOUND, "not_found"],
        [status.FAILED_PRECONDITION, "conflict"],
        [status.INVALID_ARGUMENT, "malformed_request"],
        [status.UNAUTHENTICATED, "unauthenticated"],
        [status.PERMISSION_DENIED, "forbidden"],
      ]);
    });

    it("names as many problems of a definition as the metadata of an answer can hold", async () => {
      const jobs = Array.from({ length: 300 }, (_, n) => ({
        name: `job-${n}`,
        needs: [`missing-${n}`],
        steps: [step],
      }));
      const error = await refusal(planPipeline({ spec: { jobs } }));
      expect([error.code, reasonOf(error)]).to.deep.equal([status.INVALID_ARGUMENT, "invalid_definition"]);
      const bytes = error.metadata.get("problems-bin")[0] as Buffer;
      expect(bytes.length).to.be.within(2_000, 2_400);
      const problems = JSON.parse(bytes.toString()) as object[];
      expect(problems[0]).to.include({ code: "unknown-job", pointer: "/jobs/0/needs/0" });
    });
  });

  function validate(request: Partial<ValidateSpecRequest>, token = adminToken): Promise<ValidateSpecResponse> {
    const whole = { pipelineId, spec: undefined, format: "SPEC_FORMAT_UNSPECIFIED", ...request } as const;
    return new Promise((resolve, reject) => client.validateSpec(whole, bearer(token), settle(resolve, reject)));
  }

  function planPipeline(
    request: Partial<PlanPipelineRequest>,
    caller: string | Metadata = adminToken,
  ): Promise<PlanPipelineResponse> {
    const whole = {
      pipelineId,
      spec: undefined,
      format: "SPEC_FORMAT_UNSPECIFIED",
      triggerKind: "TRIGGER_KIND_UNSPECIFIED",
      triggerPayload: undefined,
      variables: {},
      uploads: {},
      ...request,
    } as const;
    const metadata = typeof caller === "string" ? bearer(caller) : caller;
    return new Promise((resolve, reject) => client.planPipeline(whole, metadata, settle(resolve, reject)));
  }
});

function settle<T>(resolve: (response: T) => void, reject: (error: Error) => void) {
  return (error: ServiceError | null, response: T) => (error === null ? resolve(response) : reject(error));
}

/** A field of a message that holds bytes, as protobuf writes it. */
function field(number: number, bytes: Buffer): Buffer {
  const length: number[] = [];
  for (let rest = bytes.length; ; rest >>>= 7) {
    length.push(rest < 128 ? rest : (rest & 127) | 128);
    if (rest < 128) break;
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), bytes]);
}
