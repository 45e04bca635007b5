import { expect } from "chai";
import { currentQuotas } from "../../src/app/current-quotas.ts";
import { PolledSettings } from "../../src/app/polled-settings.ts";
import { forgetTenantFacts, projectFactsOf } from "../../src/app/project-facts.ts";
import { SETTING_KEYS } from "../../src/app/setting-table.ts";
import { pruneRuns } from "../../src/app/upkeep/prune-runs.ts";
import { PruneSchedule } from "../../src/app/upkeep/prune-schedule.ts";
import { asId, newId, type PipelineId, type ProjectId, type TenantId } from "../../src/domain/ids.ts";
import { agentQuotas, NO_QUOTAS, projectQuotas } from "../../src/domain/quotas.ts";
import { LogLimits } from "../../src/gateway/log-limits.ts";
import { SecretHandout } from "../../src/gateway/secret-handout.ts";
import { sampleAggregate } from "../contracts/samples.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

interface Shown {
  readonly name: string;
  readonly value: unknown;
  readonly source: string;
  readonly own: boolean;
}

describe("settings over HTTP", () => {
  let edge: TestEdge;
  let tenantId: string;
  let projectId: ProjectId;
  before(async () => void (edge = await openTestEdge()));
  after(() => edge.close());
  beforeEach(async () => {
    const make = async (path: string, body: object) =>
      (await edge.call("POST", `/api/v1${path}`, { body })).body.detail;
    tenantId = (await make("/tenants", { name: newId("tnt") })).tenantId;
    projectId = (await make("/projects", { name: newId("prj"), tenantId })).projectId;
    Object.assign(edge.context, { givenVariables: [] });
    await set("installation", {});
  });

  type Level = "installation" | "tenant" | "project";
  const pathOf = (level: Level) =>
    `/api/v1${{ installation: "", tenant: `/tenants/${tenantId}`, project: `/projects/${projectId}` }[level]}/settings`;
  const put = (level: Level, values: object, more: object = {}) =>
    edge.call("PUT", pathOf(level), { body: { values }, ...more });
  async function set(level: Level, values: object) {
    const answer = await put(level, values);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body.detail.settings as readonly Shown[];
  }
  async function get(level: Level, name: string) {
    const { detail } = (await edge.call("GET", pathOf(level))).body;
    expect(detail.scope).to.equal(level);
    const { value, source, own } = (detail.settings as Shown[]).find((one) => one.name === name)!;
    return [value, source, own];
  }

  it("come with their values and the levels that these come from", async () => {
    const { settings } = (await edge.call("GET", pathOf("project"))).body.detail;
    expect(settings.map(({ name }: Shown) => name)).to.deep.equal(SETTING_KEYS);
    expect(settings.map(({ source }: Shown) => source)).to.deep.equal(SETTING_KEYS.map(() => "default"));
    expect(await get("project", "log.lines")).to.deep.equal([1_000_000, "default", false]);
    await set("installation", { "log.lines": 3 });
    expect(await get("project", "log.lines")).to.deep.equal([3, "installation", false]);
    await set("tenant", { "log.lines": 2 });
    expect(await get("project", "log.lines")).to.deep.equal([2, "tenant", false]);
    await set("project", { "log.lines": 1 });
    expect(await get("project", "log.lines")).to.deep.equal([1, "project", true]);
    expect(await get("tenant", "log.lines")).to.deep.equal([2, "tenant", true]);
    expect(await get("installation", "log.lines")).to.deep.equal([3, "installation", true]);
    await set("project", {});
    expect(await get("project", "log.lines")).to.deep.equal([2, "tenant", false]);
  });

  it("of the installation are those of the environment, where it gives them", async () => {
    await set("installation", { "log.lines": 3 });
    Object.assign(edge.context, { givenVariables: ["MILLRACE_STEP_LOG_LINES"] });
    expect(await get("project", "log.lines")).to.deep.equal([1_000_000, "environment", false]);
    const refused = await put("installation", { "log.lines": 4, "log.bytes": 200_000 });
    expect([refused.status, refused.body.errors.map(({ pointer }: { pointer: string }) => pointer)]).to.deep.equal([
      409,
      ["/values/log.lines"],
    ]);
    await set("tenant", { "log.lines": 5 });
    expect(await get("project", "log.lines")).to.deep.equal([5, "tenant", false]);
  });

  it("are strict where one level is: no project takes back what its tenant demands", async () => {
    await set("tenant", { "trust.secrets": true, "jobs.api": "read", "jobs.idToken": false });
    await set("project", { "trust.secrets": false, "jobs.api": "write", "jobs.idToken": true });
    expect(await get("project", "trust.secrets")).to.deep.equal([true, "tenant", false]);
    expect(await get("project", "jobs.api")).to.deep.equal(["read", "tenant", true]);
    expect(await get("project", "jobs.idToken")).to.deep.equal([false, "tenant", true]);
    await set("project", { "jobs.api": "none" });
    expect(await get("project", "jobs.api")).to.deep.equal(["none", "project", true]);
  });

  it("bound the permissions of jobs, and the demands on agents", async () => {
    const asked = { idToken: true, api: "write", environment: null } as const;
    const handout = new SecretHandout(edge.context);
    expect(await handout.allowed(projectId, asked)).to.deep.equal(asked);
    await set("tenant", { "jobs.idToken": false, "jobs.api": "trigger", "trust.secrets": true });
    expect(await handout.allowed(projectId, asked)).to.deep.equal({
      idToken: false,
      api: "trigger",
      environment: null,
    });
    expect(await handout.allowed(projectId, { ...asked, api: "read" })).to.include({ api: "read" });
    expect((await projectFactsOf(edge.context, projectId)).trustDemand).to.include({ secrets: true });
    await set("installation", { "jobs.api": "none" });
    expect(await handout.allowed(projectId, asked)).to.include({ api: null });
  });

  it("keep steps without a container out of a project, in dry runs and triggers", async () => {
    const job = (more: object) => ({ name: "a", ...more, steps: [{ uses: "shell", args: { script: "make" } }] });
    const make = async (name: string, more: object) => {
      const { body } = await edge.call("POST", "/api/v1/pipelines", { body: { name, projectId } });
      const { pipelineId } = body.detail as { pipelineId: string };
      const saving = { body: { spec: { jobs: [job(more)] } } };
      const saved = await edge.call("POST", `/api/v1/pipelines/${pipelineId}/spec/save`, saving);
      expect(saved.status, JSON.stringify(saved.body)).to.equal(200);
      return pipelineId;
    };
    const [plain, contained] = [await make("plain", {}), await make("contained", { container: "node:22.12" })];
    await set("tenant", { "jobs.containers": true });
    await set("project", { "jobs.containers": false });
    expect(await get("project", "jobs.containers")).to.deep.equal([true, "tenant", true]);
    forgetTenantFacts(edge.context);
    for (const call of ["plan", "trigger"]) {
      const refused = await edge.call("POST", `/api/v1/pipelines/${plain}/${call}`, { body: {} });
      expect([refused.status, refused.body.errors?.map(({ code }: { code: string }) => code)], call).to.deep.equal([
        400,
        ["container-required"],
      ]);
    }
    const taken = await edge.call("POST", `/api/v1/pipelines/${contained}/plan`, { body: {} });
    expect(taken.status, JSON.stringify(taken.body)).to.equal(200);
  });

  it("have quotas, of which the lowest counts, and the board knows them after a read", async () => {
    const { stores, log } = edge.context;
    const ofProject = asId<ProjectId>("prj_given");
    const environment = { ...NO_QUOTAS, projects: new Map([[projectId, 7]]) };
    const settings = new PolledSettings({ documents: stores.documents, log });
    const current = currentQuotas(settings, environment);
    const limits = async () => {
      await settings.refresh();
      const quotas = projectQuotas(current(), projectId, tenantId as TenantId);
      return quotas.map(({ name, limit }) => `${name.split(":")[0]} ${limit}`);
    };
    expect(await get("project", "quota.perProject")).to.deep.equal([null, "default", false]);
    await set("installation", { "quota.perProject": 5, "quota.perTenant": 9 });
    await set("project", { "quota.perProject": 8 });
    expect(await get("project", "quota.perProject")).to.deep.equal([5, "installation", true]);
    Object.assign(edge.context, { quotas: environment });
    expect(await get("project", "quota.perProject")).to.deep.equal([7, "environment", true]);
    expect(await limits()).to.deep.equal(["project 7", "tenant 9"]);
    expect(projectQuotas(current(), ofProject).map(({ limit }) => limit)).to.deep.equal([5]);
    await set("tenant", { "quota.perProject": 3, "quota.perTenant": 12 });
    expect(await get("project", "quota.perProject")).to.deep.equal([3, "tenant", true]);
    expect(await get("tenant", "quota.perTenant")).to.deep.equal([9, "installation", true]);
    await set("project", { "quota.perProject": 2 });
    expect(await limits()).to.deep.equal(["project 2", "tenant 9"]);
    const refused = await put("project", { "quota.perTenant": 4, "quota.perProject": 1 });
    expect([refused.status, refused.body.errors[0].pointer]).to.deep.equal([400, "/values/quota.perTenant"]);
    for (const wrong of [0, 1.5, null, "3"])
      expect((await put("tenant", { "quota.perTenant": wrong })).status).to.equal(400);
    Object.assign(edge.context, { quotas: undefined });
    const { list } = (await edge.call("GET", `/api/v1/audit?object=${projectId}`)).body.detail;
    expect(list[0]).to.deep.include({ before: { "quota.perProject": 8 }, after: { "quota.perProject": 2 } });
  });

  it("of labels and of calls are those of the installation, where its environment gives none", async () => {
    const { stores, log } = edge.context;
    const gpu = { key: "pool", value: "gpu", limit: 2 };
    expect(await get("project", "quota.labels")).to.deep.equal([[], "default", false]);
    expect(await get("installation", "calls.perToken")).to.deep.equal([0, "default", false]);
    await set("installation", { "quota.labels": [gpu], "calls.perToken": 500 });
    expect(await get("project", "calls.perToken")).to.deep.equal([500, "installation", false]);
    expect(await get("installation", "quota.labels")).to.deep.equal([[gpu], "installation", true]);
    const polled = new PolledSettings({ documents: stores.documents, log });
    const current = currentQuotas(polled, NO_QUOTAS);
    const labels = [{ ...gpu, limit: 9 }];
    const fixed = currentQuotas(polled, { ...NO_QUOTAS, labels });
    await polled.refresh();
    expect(agentQuotas(current(), { pool: "gpu" }).map(({ limit }) => limit)).to.deep.equal([2]);
    for (const level of ["tenant", "project"] as const) {
      const refused = await put(level, { "calls.perToken": 1, "quota.labels": [] });
      expect(
        refused.body.errors.map(({ pointer, message }: Record<string, string>) => `${pointer} ${message}`),
      ).to.have.members([
        "/values/calls.perToken is of the installation: set it there",
        "/values/quota.labels is of the installation: set it there",
      ]);
    }
    for (const wrong of [[gpu, gpu], [{ ...gpu, limit: 0 }], [{ key: "pool" }], "pool=gpu"]) {
      expect((await put("installation", { "quota.labels": wrong })).status, JSON.stringify(wrong)).to.equal(400);
    }

    // MILLRACE_QUOTAS may name projects alone: then it gives no quota of a label.
    const given = ["MILLRACE_QUOTAS", "MILLRACE_CALLS_PER_TOKEN"];
    Object.assign(edge.context, { givenVariables: given, rateLimits: { token: 7, address: null } });
    expect(await get("installation", "quota.labels")).to.deep.equal([[gpu], "installation", true]);
    expect(await get("installation", "calls.perToken")).to.deep.equal([7, "environment", true]);
    Object.assign(edge.context, { quotas: { ...NO_QUOTAS, labels } });
    expect(await get("installation", "quota.labels")).to.deep.equal([labels, "environment", true]);
    expect(agentQuotas(fixed(), { pool: "gpu" }).map(({ limit }) => limit)).to.deep.equal([9]);
    const refused = await put("installation", { "quota.labels": [gpu], "calls.perToken": 1, "calls.perAddress": 1 });
    expect(refused.body.errors.map(({ pointer }: { pointer: string }) => pointer)).to.have.members([
      "/values/quota.labels",
      "/values/calls.perToken",
    ]);
    Object.assign(edge.context, { quotas: undefined, rateLimits: undefined });
  });

  it("are those of the routes of single rules, too", async () => {
    const rules = { age: "9d", perPipeline: null, perProject: 7 };
    await set("tenant", { "retention.runs": rules, "log.bytes": 300_000 });
    const of = async (path: string) => (await edge.call("GET", `/api/v1/projects/${projectId}/${path}`)).body.detail;
    expect(await of("retention")).to.deep.include({ runs: rules, own: [] });
    expect(await of("log-limit")).to.deep.include({ bytes: 300_000, own: [] });
    await edge.call("PUT", `/api/v1/projects/${projectId}/log-limit`, { body: { lines: 8 } });
    await edge.call("PUT", `/api/v1/projects/${projectId}/retention`, { body: { runs: { age: "2d" } } });
    expect(await get("project", "log.lines")).to.deep.equal([8, "project", true]);
    expect((await get("project", "retention.runs"))[0]).to.deep.include({ age: "2d" });
    await set("project", { "retention.logs": { age: "1d" }, "trust.protectedTargets": true });
    expect(await of("retention")).to.deep.include({ runs: rules, own: ["logs"] });
    expect(await of("trust-demand")).to.deep.include({ protectedTargets: true });
    expect(await of("log-limit")).to.deep.include({ own: [] });
  });

  it("reach the gateways and the pruner", async () => {
    await set("tenant", { "log.lines": 9, "retention.runs": { age: "1d" } });
    expect(await new LogLimits(edge.context).of(projectId)).to.include({ lines: 9 });
    const { stores } = edge.context;
    const pipelineId = newId("pl");
    const old = sampleAggregate({ pipelineId, projectId } as never);
    const endedAt = edge.context.clock.now() - 2 * 86_400_000;
    const summary = { ...old.head.summary, endedAt, createdAt: endedAt };
    await stores.aggregates.create({ ...old, head: { ...old.head, summary, final: true, settled: true, owed: [] } });
    const pruned: string[] = [];
    const pass = pruneRuns(edge.context, {
      rules: edge.context.retention.rules,
      isMine: (id: PipelineId) => id === pipelineId,
      onPruned: (part) => void pruned.push(part),
      schedule: new PruneSchedule(),
    });
    for await (const _ of pass);
    expect(pruned).to.include("runs");
  });

  it("have bounds, and every problem of a change is named", async () => {
    const refused = await put("project", { "log.lines": 0, "log.bytes": 1, "jobs.api": "admin", "no.such": 1 });
    expect(refused.status).to.equal(400);
    const pointers = refused.body.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(pointers).to.include.members([
      "/values/log.lines",
      "/values/log.bytes",
      "/values/jobs.api",
      "/values/no.such",
    ]);
    expect((await put("project", { "retention.runs": { age: "soon" } })).status).to.equal(400);
  });

  it("are changed only as they were read, where the caller says so", async () => {
    const { headers } = await edge.call("GET", pathOf("tenant"));
    const tag = { headers: { "if-match": headers.get("etag")! } };
    expect((await put("tenant", { "log.lines": 5 }, tag)).status).to.equal(200);
    expect((await put("tenant", { "log.lines": 6 }, tag)).status).to.equal(412);
  });
});
