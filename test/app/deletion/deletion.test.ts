/** The deletion of projects and tenants, over both stores. No worker runs: the tests call what a worker would. */
import { expect } from "chai";
import { createPipeline } from "../../../src/app/catalogue/pipelines.ts";
import { createProject, getProject, listProjects } from "../../../src/app/catalogue/projects.ts";
import { createUpload, getUpload, uploadFile } from "../../../src/app/content/uploads.ts";
import type { AppContext } from "../../../src/app/context.ts";
import { AreaDeleter } from "../../../src/app/deletion/area-deleter.ts";
import { deleteProject } from "../../../src/app/deletion/project-deletion.ts";
import { deleteTenant } from "../../../src/app/deletion/tenant-deletion.ts";
import type { UserCaller } from "../../../src/app/identity/access.ts";
import { putMember } from "../../../src/app/rights/members.ts";
import { createServiceAccount } from "../../../src/app/rights/service-accounts.ts";
import { createTenant, getTenant, listTenants } from "../../../src/app/rights/tenants.ts";
import { findRuns } from "../../../src/app/runs/find-runs.ts";
import { getRun } from "../../../src/app/runs/run-detail.ts";
import { rerunRun } from "../../../src/app/triggering/rerun.ts";
import { triggerRun } from "../../../src/app/triggering/trigger.ts";
import { PipelineDeleter } from "../../../src/app/upkeep/pipeline-deleter.ts";
import { asId, newId, type PipelineId, type ProjectId, type RunId, type TenantId } from "../../../src/domain/ids.ts";
import { ownerOf } from "../../../src/stores/ports/documents.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import { onBothStores, type OpenedStores } from "../../support/both-stores.ts";
import { openTestEdge, type TestEdge } from "../../support/edge.ts";
import { outcomeOf } from "../../support/outcome.ts";
import { testVault } from "../../support/secrets.ts";
import { saveTurn } from "../../support/stored-runs.ts";

const CALLER = { kind: "user", userId: "usr_1", name: "ann", role: "owner", scopes: [] } as unknown as UserCaller;
const SPEC = JSON.stringify({ jobs: [{ name: "j", steps: [{ name: "s", uses: "shell", args: { script: "true" } }] }] });
const FIND = { limit: 100, mine: "false" } as const;

describe("the deletion of a project or a tenant", function () {
  this.timeout(60_000);
  let edge: TestEdge;
  before(async () => void (edge = await openTestEdge()));
  after(() => edge?.close());

  onBothStores((open) => deletionTests(open, () => edge.context));
});

function deletionTests(open: () => Promise<OpenedStores>, parts: () => AppContext): void {
  let store: OpenedStores;
  let context: AppContext;
  let stores: Stores;
  before(async () => {
    store = await open();
    ({ stores } = store);
    context = { ...parts(), stores, secrets: testVault(stores) };
    await stores.pipelines.createProject({ projectId: asId("default"), name: "default", createdAt: 1 });
    await stores.rights.createTenant({ tenantId: asId("default"), name: "default", createdAt: 1, archivedAt: null });
  });
  after(() => store?.close());

  const newTenant = async (): Promise<TenantId> =>
    (await createTenant(context, CALLER, { name: newId("tnt") })).tenantId;
  async function newProject(tenantId?: TenantId): Promise<ProjectId> {
    const body = { name: newId("prj"), description: "", ...(tenantId && { tenantId }) };
    return (await createProject(context, CALLER, { ...body, requestId: undefined })).projectId;
  }
  async function newPipeline(projectId: ProjectId): Promise<PipelineId> {
    const { pipelineId } = await createPipeline(context, CALLER, {
      name: newId("pl"),
      projectId,
      requestId: undefined,
    } as never);
    const revision = { revisionId: newId("rev"), pipelineId, format: "json", text: SPEC, message: "" } as const;
    await stores.pipelines.saveRevision({ ...revision, editor: "ann", actor: "ann", createdAt: 1 }, null);
    return pipelineId;
  }
  const trigger = (pipelineId: PipelineId) => triggerRun(context, CALLER, { pipelineId, variables: {} });
  const end = (runId: RunId, pipelineId: PipelineId) =>
    saveTurn(context, { runId, pipelineId, jobIds: [], stepIds: [] }, { run: { state: "failed" } });
  const upload = async (projectId: ProjectId) => {
    const content = (async function* () {
      yield new Uint8Array([1, 2, 3]);
    })();
    const open = () => Promise.resolve({ name: "a.bin", type: "application/octet-stream", atMost: 3, content });
    return uploadFile(context, CALLER, { projectId, requestId: undefined, open });
  };
  const remove = (projectId: ProjectId, force = false) => deleteProject(context, CALLER, { projectId, force });
  const shards = () => [...Array(context.shards).keys()];
  /** What the workers do until there is nothing left that they can do now. */
  async function work(): Promise<void> {
    await new PipelineDeleter(context, shards).pass();
    const deleter = new AreaDeleter(context, shards);
    while (await deleter.pass());
  }
  const isEmptied = async (owner: string): Promise<boolean> => {
    const all = await stores.rights.deletions.page("", 1_000);
    return all.some(({ area, emptiedAt }) => ownerOf(area) === owner && emptiedAt !== null);
  };

  it("hides the project and all in it at once, stops its runs, and then removes everything", async () => {
    const projectId = await newProject();
    const { name } = await getProject(context, CALLER, { projectId });
    const pipelineId = await newPipeline(projectId);
    const first = (await trigger(pipelineId)).runId;
    await end(first, pipelineId);
    const rerun = (await rerunRun(context, CALLER, { runId: first, scope: "all" })).runId;
    await end(rerun, pipelineId);
    const live = (await trigger(pipelineId)).runId;
    const { uploadId } = await upload(projectId);
    await createUpload(context, CALLER, { projectId, name: "b", size: 9, type: "text/plain", requestId: undefined });
    for (const owner of [null, pipelineId]) {
      await context.secrets.create({ projectId, pipelineId: owner, name: "KEY" }, "a long value", "ann");
    }
    const owner = ownerOf({ projectId });
    await stores.documents.save({ kind: "variables", owner, version: 1, body: { variables: [] } });
    const bot = await createServiceAccount(context, CALLER, { area: { projectId }, name: newId("usr") });
    await putMember(context, CALLER, { area: { projectId }, member: bot.userId, role: "viewer" });

    expect(await outcomeOf(remove(projectId)), "a run is live").to.equal("conflict");
    expect(await outcomeOf(remove(projectId, true))).to.equal("done");
    const calls: Record<string, () => Promise<unknown>> = {
      "the project": () => getProject(context, CALLER, { projectId }),
      "a run": () => getRun(context, CALLER, { runId: first, allAttempts: false }),
      "a trigger": () => trigger(pipelineId),
      "an upload": () => getUpload(context, CALLER, { projectId, uploadId }),
      "the deletion again": () => remove(projectId, true),
    };
    for (const [what, call] of Object.entries(calls)) expect(await outcomeOf(call()), what).to.equal("not_found");
    const found = await findRuns(context, CALLER, FIND);
    expect(found.list.map((run) => run.runId)).to.not.include.members([first]);
    expect((await listProjects(context, CALLER)).list.map((one) => one.projectId)).to.not.include(projectId);
    expect(await outcomeOf(createProject(context, CALLER, { name, description: "", requestId: undefined }))).to.equal(
      "done",
    );

    await work();
    expect((await stores.inbox.pending(live)).map(({ kind }) => kind)).to.deep.equal(["stop"]);
    expect(await stores.aggregates.loadHead(first)).to.equal(undefined);
    expect(await stores.aggregates.loadHead(rerun)).to.equal(undefined);
    expect(await isEmptied(owner), "a run is live still").to.equal(false);
    await end(live, pipelineId);
    await work();
    expect(await isEmptied(owner)).to.equal(true);
    expect((await stores.aggregates.findRuns({ projectIds: [projectId] }, { limit: 1 })).list).to.deep.equal([]);
    expect(await stores.uploads.amountOf(projectId)).to.deep.equal({ count: 0, bytes: 0 });
    expect(await stores.blobs.storedBytes(uploadId)).to.equal(0);
    for (const one of [null, pipelineId]) {
      const { total } = await stores.secrets.list({ projectId, pipelineId: one }, { page: 1, pageSize: 1 });
      expect(total).to.equal(0);
    }
    expect(await stores.documents.find("variables", [owner])).to.deep.equal([]);
    expect(await stores.rights.boundIn({ projectId })).to.deep.equal([]);
    expect(await stores.identity.findUser(bot.userId)).to.equal(undefined);
    expect(await stores.pipelines.find(pipelineId)).to.equal(undefined);
  });

  it("is finished by a worker when the node died right after the decision", async () => {
    const projectId = await newProject();
    const pipelineId = await newPipeline(projectId);
    const { runId } = await trigger(pipelineId);
    const died: Stores = { ...stores, pipelines: dying(stores.pipelines, "deleteProject") };
    const call = deleteProject({ ...context, stores: died }, CALLER, { projectId, force: true });
    expect(await outcomeOf(call)).to.equal("Error: the node died");
    expect(await outcomeOf(getProject(context, CALLER, { projectId }))).to.equal("not_found");
    expect(await outcomeOf(trigger(pipelineId))).to.equal("not_found");
    expect((await listProjects(context, CALLER)).list.map((one) => one.projectId)).to.not.include(projectId);
    await work();
    await work();
    expect(await stores.pipelines.findProject(projectId)).to.equal(undefined);
    expect((await stores.inbox.pending(runId)).map(({ kind }) => kind)).to.deep.equal(["stop"]);
    await end(runId, pipelineId);
    await work();
    expect(await isEmptied(ownerOf({ projectId }))).to.equal(true);
  });

  it("finds what an edge stored in the project late", async () => {
    const projectId = await newProject();
    await remove(projectId);
    await work();
    expect(await isEmptied(ownerOf({ projectId }))).to.equal(true);
    const late = { pipelineId: newId("pl"), projectId, name: "late", createdAt: 1 };
    await stores.pipelines.create({ ...(await stores.pipelines.find(await newPipeline(asId("default"))))!, ...late });
    await work();
    expect(await isEmptied(ownerOf({ projectId })), "a pipeline is there again").to.equal(false);
    await work();
    expect(await stores.pipelines.find(late.pipelineId)).to.equal(undefined);
    expect(await isEmptied(ownerOf({ projectId }))).to.equal(true);
  });

  it("is refused for the default project and the default tenant", async () => {
    expect(await outcomeOf(remove(asId("default"), true))).to.equal("conflict");
    const tenant = deleteTenant(context, CALLER, { tenantId: asId("default"), force: true });
    expect(await outcomeOf(tenant)).to.equal("conflict");
  });

  it("of a tenant takes its projects, accounts and agents along only with force", async () => {
    const tenantId = await newTenant();
    const projectId = await newProject(tenantId);
    const pipelineId = await newPipeline(projectId);
    const { runId } = await trigger(pipelineId);
    const bot = await createServiceAccount(context, CALLER, { area: { tenantId }, name: newId("usr") });
    const agentId = newId("agt");
    const agent = { agentId, name: agentId, labels: {}, slots: 1, version: "1", createdAt: 1 };
    await stores.identity.putAgent({ ...agent, reach: { tenantId, projectIds: null } });
    await stores.identity.changeAgent(agentId, { reach: { tenantId, projectIds: null } });
    expect(await outcomeOf(deleteTenant(context, CALLER, { tenantId, force: false }))).to.equal("conflict");
    expect(await outcomeOf(getProject(context, CALLER, { projectId }))).to.equal("done");

    const event = { log: tenantId, eventId: "e", object: "agent", lifecycle: "online", timeMs: 1 } as const;
    await stores.systemEvents.append([{ ...event, data: { id: agentId } }]);
    expect(await outcomeOf(deleteTenant(context, CALLER, { tenantId, force: true }))).to.equal("done");
    expect(await stores.systemEvents.newest(tenantId)).to.equal(0);
    expect(await outcomeOf(getTenant(context, CALLER, { tenantId }))).to.equal("not_found");
    expect(await outcomeOf(getProject(context, CALLER, { projectId }))).to.equal("not_found");
    expect(await outcomeOf(getRun(context, CALLER, { runId, allAttempts: false }))).to.equal("not_found");
    expect(await stores.identity.findUser(bot.userId)).to.equal(undefined);
    expect(await stores.identity.findAgent(agentId)).to.equal(undefined);
    await work();
    await end(runId, pipelineId);
    await work();
    expect(await isEmptied(ownerOf({ projectId }))).to.equal(true);
    expect(await isEmptied(ownerOf({ tenantId }))).to.equal(true);
  });

  it("of a tenant is finished by a worker when the node died right after the decision", async () => {
    const tenantId = await newTenant();
    const projectId = await newProject(tenantId);
    const died: Stores = { ...stores, pipelines: dying(stores.pipelines, "deleteProject") };
    const call = deleteTenant({ ...context, stores: died }, CALLER, { tenantId, force: true });
    expect(await outcomeOf(call)).to.equal("Error: the node died");
    expect(await outcomeOf(getTenant(context, CALLER, { tenantId }))).to.equal("not_found");
    expect((await listTenants(context, CALLER)).list.map((one) => one.tenantId)).to.not.include(tenantId);
    const late = createProject(context, CALLER, { name: "late", description: "", tenantId, requestId: undefined });
    expect(await outcomeOf(late)).to.equal("malformed_request");
    await work();
    expect(await stores.rights.findTenant(tenantId)).to.equal(undefined);
    expect(await stores.pipelines.findProject(projectId)).to.equal(undefined);
    expect(await isEmptied(ownerOf({ tenantId }))).to.equal(true);
  });
}

/** The same store, of which one method fails. */
function dying<T extends object>(store: T, method: keyof T): T {
  return new Proxy(store, {
    get(target, name) {
      if (name === method) return () => Promise.reject(new Error("the node died"));
      const member = Reflect.get(target, name) as unknown;
      return typeof member === "function" ? (member.bind(target) as unknown) : member;
    },
  });
}
