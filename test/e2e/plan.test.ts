/** The dry run on a control plane with agents: over HTTP, over gRPC and at the command line. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { credentials, Metadata } from "@grpc/grpc-js";
import { expect } from "chai";
import { PipelineClient, type PlanPipelineResponse } from "../../proto/generated/pipeline/v1/pipeline.ts";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { type Exit, ProcessWorld, type StartedProcess } from "../support/processes.ts";

const JOBS = [
  {
    name: "anywhere",
    steps: [{ name: "say", uses: "shell", args: { script: "echo" } }],
  },
  {
    name: "on-one",
    agentSelector: { matchLabels: { name: "one" } },
    steps: [{ name: "say", uses: "shell", args: { script: "echo" } }],
  },
  {
    name: "nowhere",
    agentSelector: { matchExpressions: [{ key: "gpu", operator: "In", values: ["yes"] }] },
    steps: [{ name: "say", uses: "shell", args: { script: "echo" } }],
  },
];

describe("a plan with agents", function () {
  this.timeout(90_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  let pipelineId: string;

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    await installation.serve(join(world.folder, "data"));
    await Promise.all([installation.agent("one"), installation.agent("two")]);
    pipelineId = await installation.pipeline("planned", JOBS);
  });
  after(() => world?.end());

  const names = ({ agents }: { agents?: { matching: readonly { name: string }[] } | null | undefined }) =>
    agents!.matching.map(({ name }) => name);

  it("lists over HTTP and gRPC which agents match and which clauses the others fail", async () => {
    const { status, body } = await installation.call("POST", `/pipelines/${pipelineId}/plan`, {});
    expect(status, JSON.stringify(body)).to.equal(200);
    const [anywhere, onOne, nowhere] = body.detail.stages[0].jobs;
    expect([anywhere, onOne, nowhere].map(names)).to.deep.equal([["one", "two"], ["one"], []]);
    expect(onOne.agents).to.deep.include({ online: 2, matches: 1, failing: [{ clause: "name=one", agents: 1 }] });
    expect(nowhere.agents.failing).to.deep.equal([{ clause: "gpu In (yes)", agents: 2 }]);

    const answered = await planOverGrpc();
    expect(answered.stages[0]!.jobs.map(names)).to.deep.equal([["one", "two"], ["one"], []]);
    expect(answered.stages[0]!.jobs[2]!.agents!.failing).to.deep.equal([{ clause: "gpu In (yes)", agents: 2 }]);
  });

  it("is a tree of the local file at the command line", async () => {
    const file = join(world.folder, "changed.yaml");
    await writeFile(file, JSON.stringify({ jobs: [...JOBS, { ...JOBS[0], name: "new" }] }));
    const { code, stdout, stderr } = await plan([file, "--pipeline-id", pipelineId, "--ref", "next"]);
    expect(stderr).to.equal("");
    expect(stdout).to.equal(`plan of changed.yaml: 4 jobs, 4 steps (manual, ref next)
└─ stage default
   ├─ job anywhere  runs     2 agents match: one, two
   │  └─ say        runs
   ├─ job on-one    runs     1 agent matches: one
   │  └─ say        runs
   ├─ job nowhere   runs     no agent matches: gpu In (yes) (2 of 2 agents fail it)
   │  └─ say        runs
   └─ job new       runs     2 agents match: one, two
      └─ say        runs
`);
    expect(code).to.equal(0);
    const { list } = (await installation.call("GET", `/pipelines/${pipelineId}/runs`)).body.detail;
    expect(list, "runs").to.deep.equal([]);
  });

  it("fails at the command line with the control plane's refusal, or without an answer", async () => {
    const file = join(world.folder, "same.yaml");
    await writeFile(file, JSON.stringify({ jobs: JOBS }));
    const unknown = await plan([file, "--pipeline-id", "pl_unknown"]);
    expect([unknown.code, unknown.stdout]).to.deep.equal([1, ""]);
    expect(unknown.stderr).to.contain("there is no pipeline");
    const unreachable = await plan([file, "--pipeline-id", pipelineId], "http://127.0.0.1:1");
    expect(unreachable.code).to.equal(1);
    expect(unreachable.stderr).to.contain("127.0.0.1:1 does not answer");
  });

  async function plan(
    args: readonly string[],
    server = `http://${installation.node.http}/`,
  ): Promise<StartedProcess & Exit> {
    const env = { MILLRACE_TOKEN: installation.adminToken };
    const started = world.start(["plan", "--server", server, ...args], { cwd: world.folder, env });
    return Object.assign(started, await started.exited);
  }

  function planOverGrpc(): Promise<PlanPipelineResponse> {
    const client = new PipelineClient(installation.node.grpc!, credentials.createInsecure());
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${installation.adminToken}`);
    const request = {
      pipelineId,
      spec: undefined,
      format: "SPEC_FORMAT_UNSPECIFIED",
      triggerKind: "TRIGGER_KIND_UNSPECIFIED",
      triggerPayload: undefined,
      variables: {},
      uploads: {},
    } as const;
    return new Promise<PlanPipelineResponse>((resolve, reject) => {
      client.planPipeline(request, metadata, (error, response) => (error === null ? resolve(response) : reject(error)));
    }).finally(() => client.close());
  }
});
