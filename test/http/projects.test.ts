import { expect } from "chai";
import { emptyProject } from "../../src/app/deletion/project-deletion.ts";
import type { ProjectId } from "../../src/domain/ids.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { packageOf } from "../support/plugin-packages.ts";

const SPEC = { jobs: [{ name: "one", steps: [{ uses: "shell", args: { script: "true" } }] }] };

describe("projects over HTTP", () => {
  let edge: TestEdge;
  before(async () => {
    edge = await openTestEdge();
  });
  after(() => edge.close());

  async function project(name: string): Promise<string> {
    const { body } = await edge.call("POST", "/api/v1/projects", { body: { name } });
    return body.detail.projectId;
  }
  const patch = (projectId: string, body: object) => edge.call("PATCH", `/api/v1/projects/${projectId}`, { body });

  it("are created, listed, read and changed", async () => {
    const made = await edge.call("POST", "/api/v1/projects", { body: { name: "Web shop", description: "sells" } });
    const { projectId } = made.body.detail;
    expect(made.body.detail).to.include({ name: "Web shop", description: "sells", archived: false });
    const { list, total } = (await edge.call("GET", "/api/v1/projects")).body.detail;
    expect(list).to.deep.include(made.body.detail);
    expect(list.map((one: { projectId: string }) => one.projectId)).to.include("default");
    expect(total).to.equal(list.length);
    const changed = await patch(projectId, { name: "Shop" });
    expect(changed.body.detail).to.deep.equal({ ...made.body.detail, name: "Shop" });
    const read = await edge.call("GET", `/api/v1/projects/${projectId}`);
    expect(read.body.detail).to.deep.equal(changed.body.detail);
  });

  it("refuse taken names, bad bodies, unknown ids and callers who may only read", async () => {
    const projectId = await project("first");
    const taken = await edge.call("POST", "/api/v1/projects", { body: { name: "first" } });
    expect(taken.body).to.include({ code: 409, reason: "already_exists" });
    const other = await project("second");
    expect((await patch(other, { name: "first" })).body).to.include({ code: 409, reason: "already_exists" });
    expect((await patch(other, {})).body).to.include({ code: 400, reason: "malformed_request" });
    const bad = await edge.call("POST", "/api/v1/projects", { body: { name: " ", description: 1, more: true } });
    const pointers = bad.body.errors.map(({ pointer }: { pointer: string }) => pointer);
    expect(pointers).to.include.members(["/name", "/description"]);
    expect((await patch("prj_unknown", { name: "x" })).body).to.include({ code: 404, reason: "not_found" });
    const { token } = await edge.userWithRole("maintainer");
    expect((await edge.call("GET", `/api/v1/projects/${projectId}`, { token })).status).to.equal(200);
    const refused = await edge.call("POST", "/api/v1/projects", { token, body: { name: "third" } });
    expect(refused.body).to.include({ code: 403, reason: "forbidden" });
  });

  it("have slugs that follow from their names, and are named by them in paths and queries", async () => {
    const make = async (body: object) => (await edge.call("POST", "/api/v1/projects", { body })).body;
    const { detail } = await make({ name: "Ärger & Shop  2" });
    expect(detail.slug).to.equal("rger-shop-2");
    expect((await make({ name: "rger shop 2" })).detail.slug).to.equal("rger-shop-2-2");
    expect((await make({ name: "Default" })).detail.slug).to.equal("default-2");
    expect(await make({ name: "taken", slug: "rger-shop-2" })).to.include({ code: 409, reason: "already_exists" });
    for (const slug of ["Shop", "-a", "a--b", "a_b", "", "x".repeat(64), "default"]) {
      expect(await make({ name: "bad slug", slug }), slug).to.include({ code: 400, reason: "malformed_request" });
    }
    expect((await patch(detail.projectId, { name: "Shop 3" })).body.detail).to.include({ slug: "rger-shop-2" });
    expect((await patch(detail.projectId, { slug: "shop" })).body.detail).to.include({ name: "Shop 3", slug: "shop" });
    const read = (path: string, token?: string) => edge.call("GET", `/api/v1${path}`, token ? { token } : {});
    for (const path of ["shop", "default%2Fshop", detail.projectId]) {
      expect((await read(`/projects/${path}`)).body.detail.projectId, path).to.equal(detail.projectId);
    }
    expect((await read("/projects/rger-shop-2")).body).to.include({ code: 404, reason: "not_found" });
    expect((await edge.call("PUT", "/api/v1/projects/shop/variables/a", { body: { value: "1" } })).status).to.equal(
      200,
    );
    await edge.call("POST", "/api/v1/pipelines", { body: { name: "of-shop", projectId: detail.projectId } });
    expect((await read("/pipelines?projectId=shop")).body.detail).to.have.property("total", 1);
    expect((await read("/audit?project=shop&operation=createPipeline")).body.detail.list).to.have.length(1);
  });

  it("of other tenants are named with the slug of the tenant, and are missing for users without a role there", async () => {
    const { tenantId, slug } = (await edge.call("POST", "/api/v1/tenants", { body: { name: "Acme Corp" } })).body
      .detail;
    expect(slug).to.equal("acme-corp");
    const body = { name: "Site", tenantId };
    const { projectId } = (await edge.call("POST", "/api/v1/projects", { body })).body.detail;
    expect((await edge.call("GET", "/api/v1/projects/site")).status).to.equal(404);
    const [own, guess] = ["/api/v1/projects/acme-corp%2Fsite", "/api/v1/projects/acme-corp%2Fnone"];
    expect((await edge.call("GET", own)).body.detail.projectId).to.equal(projectId);
    expect((await edge.call("GET", "/api/v1/tenants/acme-corp")).body.detail).to.include({ tenantId, slug });
    const { userId } = (await edge.call("POST", "/api/v1/users", { body: { name: "outsider", role: null } })).body
      .detail;
    const path = `/api/v1/users/${userId}/tokens`;
    const { token } = (await edge.call("POST", path, { body: { name: "t" } })).body.detail;
    for (const [address, text] of [
      [own, "acme-corp/site"],
      [guess, "acme-corp/none"],
    ] as const) {
      const { body: refusal } = await edge.call("GET", address, { token });
      expect(refusal).to.include({ code: 404, errMsg: `there is no project "${text}"` });
    }
  });

  it("take no new pipelines and runs while they are archived, and keep what they have", async () => {
    const projectId = await project("old");
    const body = { name: "p", projectId };
    const { pipelineId } = (await edge.call("POST", "/api/v1/pipelines", { body })).body.detail;
    await edge.call("POST", `/api/v1/pipelines/${pipelineId}/spec/save`, { body: { spec: SPEC } });
    const trigger = () => edge.call("POST", `/api/v1/pipelines/${pipelineId}/trigger`, { body: {} });
    expect((await trigger()).status).to.equal(200);
    expect((await patch(projectId, { archived: true })).body.detail).to.include({ archived: true });
    const refused = await trigger();
    expect(refused.body).to.include({ code: 409, reason: "conflict" });
    expect(refused.body.errMsg).to.include("archived");
    const another = await edge.call("POST", "/api/v1/pipelines", { body: { name: "q", projectId } });
    expect(another.body).to.include({ code: 409, reason: "conflict" });
    expect((await edge.call("GET", `/api/v1/pipelines/${pipelineId}`)).status).to.equal(200);
    expect((await patch(projectId, { archived: false })).body.detail).to.include({ archived: false });
    expect((await trigger()).status).to.equal(200);
  });

  it("are deleted with everything in them, with live runs only by force", async () => {
    const projectId = await project("gone");
    const { pipelineId } = (await edge.call("POST", "/api/v1/pipelines", { body: { name: "p", projectId } })).body
      .detail;
    await edge.call("POST", `/api/v1/pipelines/${pipelineId}/spec/save`, { body: { spec: SPEC } });
    const { runId } = (await edge.call("POST", `/api/v1/pipelines/${pipelineId}/trigger`, { body: {} })).body.detail;
    const raw = await packageOf("1.0.0", { name: "gone/greet" });
    const pushed = { raw, headers: { "content-type": "application/gzip" } };
    expect((await edge.call("POST", `/api/v1/projects/${projectId}/plugins`, pushed)).status).to.equal(200);
    const remove = (query = "", headers = {}) =>
      edge.call("DELETE", `/api/v1/projects/${projectId}${query}`, { headers });
    const { body } = await remove();
    expect(body).to.include({ code: 409, reason: "conflict" });
    expect(body.errMsg).to.include(runId).and.include("?force=true");
    expect((await remove("?force=yes")).status).to.equal(400);
    expect((await remove("?force=true", { "if-match": '"stale"' })).status).to.equal(412);
    const { token } = await edge.userWithRole("admin");
    const refused = await edge.call("DELETE", `/api/v1/projects/${projectId}?force=true`, { token });
    expect(refused.body).to.include({ code: 403, reason: "forbidden" });
    expect((await remove("?force=true")).status).to.equal(200);
    for (const path of [`projects/${projectId}`, `pipelines/${pipelineId}`, `pipelines/runs/${runId}`]) {
      expect((await edge.call("GET", `/api/v1/${path}`)).body, path).to.include({ code: 404, reason: "not_found" });
    }
    expect((await remove("?force=true")).body).to.include({ code: 404 });
    const { plugins, blobs } = edge.context.stores;
    const owner = `project/${projectId as ProjectId}` as const;
    const [plugin] = await plugins.listOf(owner, 10);
    expect(await emptyProject(edge.context, projectId as ProjectId, "admin")).to.equal("waits");
    expect(await plugins.listOf(owner, 10)).to.deep.equal([]);
    expect(await blobs.read(plugin!.packageId, 0, 10)).to.have.length(0);
    expect(await project("gone"), "the name is free").to.be.a("string");
    const { list } = (await edge.call("GET", `/api/v1/audit?object=${projectId}&operation=deleteProject`)).body.detail;
    expect(list.map(({ outcome }: { outcome: string }) => outcome).toSorted()).to.deep.equal(["done", "refused"]);
  });

  it("do not let the default project be archived or deleted", async () => {
    const refused = await patch("default", { archived: true });
    expect(refused.body).to.include({ code: 409, reason: "conflict" });
    const kept = await edge.call("DELETE", "/api/v1/projects/default?force=true");
    expect(kept.body).to.include({ code: 409, reason: "conflict" });
    expect((await patch("default", { description: "for everything" })).status).to.equal(200);
  });
});
