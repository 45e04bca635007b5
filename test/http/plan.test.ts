import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

const step = { name: "say", uses: "shell", args: { script: "echo" } };
const SPEC = {
  variables: { who: "world" },
  jobs: [
    {
      name: "build",
      matrix: { axes: { os: ["linux", "mac"] } },
      agentSelector: { matchLabels: { kind: "builder" } },
      env: { COMMIT: "${{ trigger.head.sha }}", WHO: "${{ variables.who }}" },
      steps: [step],
    },
    { name: "report", needs: ["build"], steps: [step] },
  ],
};

describe("plans over HTTP", () => {
  let edge: TestEdge;
  let names = 0;
  before(async () => {
    edge = await openTestEdge();
  });
  after(() => edge.close());

  async function newPipeline(spec?: object): Promise<string> {
    const body = { name: `p${++names}`, defaultBranch: "main" };
    const { pipelineId } = (await edge.call("POST", "/api/v1/pipelines", { body })).body.detail;
    if (spec !== undefined) await edge.call("POST", at(pipelineId, "/spec/save"), { body: { spec } });
    return pipelineId;
  }
  const at = (pipelineId: string, rest: string) => `/api/v1/pipelines/${pipelineId}${rest}`;
  const plan = (pipelineId: string, body?: object, token?: string) =>
    edge.call("POST", at(pipelineId, "/plan"), { ...(body && { body }), ...(token && { token }) });

  async function agentOnline(name: string, labels: Record<string, string>): Promise<string> {
    const agentId = newId("agt");
    const facts = { agentId, labels, slots: 1 };
    await edge.context.stores.identity.putAgent({ ...facts, name, version: "1", createdAt: 0 });
    await edge.context.presence.beat({ ...facts, bootId: "b", gatewayId: "g", busy: 0 });
    return agentId;
  }

  it("name the secrets that steps would get, and whether they are set", async () => {
    const env = { A: "${{ secrets.SET }}", B: "${{ secrets.UNSET || secrets[format('OF_{0}', trigger.ref)] }}" };
    const steps = [{ uses: "shell", args: { script: "x" }, env }];
    const pipelineId = await newPipeline({ jobs: [{ name: "a", steps }] });
    await edge.call("POST", at(pipelineId, "/secrets"), { body: { name: "SET", value: "hunter22" } });
    await edge.call("POST", "/api/v1/projects/default/secrets", { body: { name: "OF_main", value: "hunter22" } });
    const { body } = await plan(pipelineId);
    expect(body.detail.secrets).to.deep.equal([
      { name: "OF_main", isSet: true },
      { name: "SET", isSet: true },
      { name: "UNSET", isSet: false },
    ]);
    expect(JSON.stringify(body)).not.to.include("hunter");
  });

  it("use the head's definition, a manual trigger and the default branch by default", async () => {
    const { status, body } = await plan(await newPipeline(SPEC));
    expect(status, JSON.stringify(body)).to.equal(200);
    const { trigger, jobsCount, stepsCount, stages, warnings } = body.detail;
    expect({ trigger, jobsCount, stepsCount }).to.deep.equal({
      trigger: { kind: "manual", ref: "main" },
      jobsCount: 3,
      stepsCount: 3,
    });
    const [linux, mac, report] = stages[0].jobs;
    expect(linux).to.deep.include({ name: "build (os=linux)", matrix: { os: "linux" }, selector: ["kind=builder"] });
    expect(mac.name).to.equal("build (os=mac)");
    expect(report).to.deep.include({ name: "report", needs: ["build"], selector: [] });
    expect(report.verdict).to.deep.include({ outcome: "runs" });
    expect(report.steps[0]).to.include({ name: "say", uses: "shell" });
    expect(warnings.map(({ code }: { code: string }) => code)).to.deep.equal(["undefined-value"]);
  });

  it("use the definition, trigger and variables of the body, and store nothing", async () => {
    const pipelineId = await newPipeline();
    const payload = { head: { sha: "abc" }, commits: [1, null, { deep: [true] }] };
    const trigger = { kind: "event", ref: "refs/tags/v1", payload };
    for (const format of ["json", "yaml"]) {
      const { status, body } = await plan(pipelineId, { spec: SPEC, format, trigger, variables: { who: "me" } });
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body.detail.trigger).to.deep.equal({ kind: "event", ref: "refs/tags/v1" });
      expect(body.detail.warnings).to.deep.equal([]);
    }
    expect((await plan(pipelineId, { spec: SPEC, variables: { ref: "v2" } })).body.detail.trigger.ref).to.equal("v2");
    expect((await edge.call("GET", at(pipelineId, ""))).body.detail.headCommitSha).to.equal("");
    expect((await edge.call("GET", at(pipelineId, "/runs"))).body.detail.total).to.equal(0);
    expect(edge.sentMessages).to.deep.equal([]);
  });

  it("say for each job which online agents match, and which clause the others fail", async () => {
    const pipelineId = await newPipeline(SPEC);
    const agentsOf = async () =>
      (await plan(pipelineId)).body.detail.stages[0].jobs.map(({ agents }: { agents: object }) => agents);
    const noAgents = { online: 0, matches: 0, matching: [], failing: [] };
    expect(await agentsOf()).to.deep.equal([noAgents, noAgents, noAgents]);
    const tester = await agentOnline("tester", { kind: "tester" });
    const [build] = await agentsOf();
    expect(build).to.deep.equal({ ...noAgents, online: 1, failing: [{ clause: "kind=builder", agents: 1 }] });
    const builder = await agentOnline("builder", { kind: "builder" });
    const matching = [
      { agentId: builder, name: "builder" },
      { agentId: tester, name: "tester" },
    ];
    expect((await agentsOf()).slice(1)).to.deep.equal([
      { online: 2, matches: 1, matching: matching.slice(0, 1), failing: [{ clause: "kind=builder", agents: 1 }] },
      { online: 2, matches: 2, matching, failing: [] },
    ]);
  });

  it("of a definition with errors are refused with every problem and its place", async () => {
    const bad = { jobs: [{ name: "build", needs: ["missing"], steps: [{ ...step, colour: 1 }] }] };
    const { body } = await plan(await newPipeline(), { spec: bad });
    expect(body).to.include({ code: 400, reason: "invalid_definition" });
    const codes = body.errors.map(({ code }: { code: string }) => code);
    expect(codes).to.have.members(["unknown-job", "unknown-key"]);
    for (const problem of body.errors) expect(problem.line, JSON.stringify(problem)).to.be.greaterThan(0);
  });

  it("are refused when only the values of the trigger are wrong", async () => {
    const spec = { jobs: [{ name: "a", env: { A: "${{ fromJSON(trigger.list) }}" }, steps: [step] }] };
    const pipelineId = await newPipeline(spec);
    const refused = await plan(pipelineId, { trigger: { payload: { list: "{" } } });
    expect(refused.body).to.include({ code: 400, reason: "invalid_definition" });
    expect(refused.body.errors[0]).to.include({ code: "evaluation-failed", pointer: "/jobs/0/env/A" });
    expect((await plan(pipelineId, { trigger: { payload: { list: "[]" } } })).status).to.equal(200);
  });

  it("show the outcome of each condition, and the whole condition", async () => {
    const jobs = [{ name: "a", when: "trigger.ref == 'next' && variables.x", steps: [step] }];
    const { body } = await plan(await newPipeline(), { spec: { variables: { x: "" }, jobs } });
    const [job] = body.detail.stages[0].jobs;
    const verdict = { outcome: "skipped", decidedBy: "trigger.ref == 'next'", certain: true };
    expect(job).to.deep.include({ when: "success() && trigger.ref == 'next' && variables.x", verdict });
    expect(job.steps[0].verdict).to.deep.equal(verdict);
  });

  it("are refused when variables do not match the inputs", async () => {
    const inputs = { level: { type: "number", required: true } };
    const spec = { ...SPEC, triggers: { manual: { inputs } } };
    const pipelineId = await newPipeline();
    for (const variables of [{}, { level: "high" }]) {
      const { body } = await plan(pipelineId, { spec, variables });
      expect(body).to.include({ code: 400, reason: "malformed_request" });
      expect(body.errors[0].pointer).to.equal("/variables/level");
    }
    expect((await plan(pipelineId, { spec, variables: { level: "3" } })).status).to.equal(200);
  });

  it("are refused when their answer would be too large", async () => {
    const axis = Array.from({ length: 1_000 }, (_, cell) => cell);
    const matchLabels = Object.fromEntries(axis.slice(0, 500).map((n) => [`label-${n}`, "value"]));
    const spec = { jobs: [{ name: "a", matrix: { axes: { axis } }, agentSelector: { matchLabels }, steps: [step] }] };
    expect((await plan(await newPipeline(), { spec })).body).to.include({ code: 400, reason: "too_large" });
  });

  it("need a pipeline, and a saved or sent definition", async () => {
    expect((await plan("pl_unknown")).body).to.include({ code: 404, reason: "not_found" });
    const none = await plan(await newPipeline());
    expect(none.body).to.include({ code: 409, reason: "conflict" });
    expect(none.body.errMsg).to.contain("`spec`");
  });

  it("are refused for bodies of another shape, and for triggers that are too large", async () => {
    const pipelineId = await newPipeline(SPEC);
    const { body } = await plan(pipelineId, {
      spec: "jobs: []",
      trigger: { kind: "push", payload: [], when: 1 },
      variables: { a: 1 },
      colour: 1,
    });
    expect(body).to.include({ code: 400, reason: "malformed_request" });
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).to.have.members([
      "/spec",
      "/trigger/kind",
      "/trigger/payload",
      "/trigger/when",
      "/variables/a",
      "/colour",
    ]);
    expect((await plan(pipelineId, { content: "jobs: []" })).body.errMsg).to.contain("spec");
    const large = "x".repeat(1024 * 1024);
    for (const question of [{ variables: { large } }, { trigger: { payload: { large } } }]) {
      expect((await plan(pipelineId, question)).body).to.include({ code: 400, reason: "too_large" });
    }
  });

  it("are for every user who may validate definitions, and need a token", async () => {
    const pipelineId = await newPipeline(SPEC);
    const { token } = await edge.userWithRole("viewer");
    expect((await plan(pipelineId, {}, token)).status).to.equal(200);
    expect((await edge.call("POST", at(pipelineId, "/plan"), { token: null })).status).to.equal(401);
  });

  it("are made without Redis, and then show no agents", async () => {
    const pipelineId = await newPipeline(SPEC);
    await edge.redis.kill();
    const { status, body } = await plan(pipelineId);
    expect(status).to.equal(200);
    expect(body.detail.stages[0].jobs[0].agents).to.equal(null);
  });
});
