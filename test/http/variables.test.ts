import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import { VARIABLE_BOUNDS } from "../../src/app/catalogue/variable-set.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";

const SPEC = {
  variables: { ofAll: "definition", ofThree: "definition" },
  jobs: [
    {
      name: "a",
      env: {
        ALL: "${{ variables.ofAll }}",
        THREE: "${{ variables.ofThree }}",
        TWO: "${{ variables.ofTwo }}",
        ONE: "${{ variables.ofTenant }}",
      },
      steps: [{ name: "s", uses: "shell", args: { script: "true" } }],
    },
  ],
};

describe("variables of tenants and projects over HTTP", () => {
  let edge: TestEdge;
  let tenantId: string;
  let projectId: string;
  let pipelineId: string;
  before(async () => {
    edge = await openTestEdge();
    tenantId = (await call("POST", "/tenants", { name: "acme" })).detail.tenantId;
    projectId = (await call("POST", "/projects", { name: "site", tenantId })).detail.projectId;
    pipelineId = (await call("POST", "/pipelines", { name: "p", projectId })).detail.pipelineId;
    await call("POST", `/pipelines/${pipelineId}/spec/save`, { spec: SPEC });
  });
  after(() => edge.close());

  const send = (
    method: string,
    path: string,
    body?: unknown,
    more: { token?: string; headers?: Record<string, string> } = {},
  ) => edge.call(method, `/api/v1${path}`, { ...(body === undefined ? {} : { body }), ...more });
  async function call(method: string, path: string, body?: unknown) {
    const answer = await send(method, path, body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    return answer.body;
  }
  const ofTenant = (name = "") => `/tenants/${tenantId}/variables${name && `/${name}`}`;
  const ofProject = (name = "") => `/projects/${projectId}/variables${name && `/${name}`}`;
  const run = async (variables: object = {}) => {
    const { runId } = (await call("POST", `/pipelines/${pipelineId}/trigger`, { variables })).detail;
    const spec = await edge.context.stores.plans.loadJob(runId, 0);
    return { runId, env: Object.fromEntries(spec!.env) };
  };

  it("are set, read, listed by name and deleted", async () => {
    for (const path of [ofTenant, ofProject]) {
      const { detail } = await call("PUT", path("region"), { value: "" });
      expect(detail).to.include({ name: "region", value: "", updatedBy: "admin" });
      await call("PUT", path("Area"), { value: "x y\n" });
      await call("PUT", path("region"), { value: "north" });
      expect((await call("GET", path("region"))).detail).to.include({ value: "north" });
      const { list, total } = (await call("GET", path())).detail;
      expect(list.map(({ name, value }: { name: string; value: string }) => [name, value])).to.deep.equal([
        ["Area", "x y\n"],
        ["region", "north"],
      ]);
      expect(total).to.equal(2);
      for (const name of ["Area", "region"]) await call("DELETE", path(name));
      expect((await send("GET", path("region"))).status).to.equal(404);
      expect((await send("DELETE", path("region"))).status).to.equal(404);
    }
  });

  it("are overridden by those of the project, of the definition and of the trigger, in this order", async () => {
    for (const name of ["ofAll", "ofThree", "ofTwo", "ofTenant"])
      await call("PUT", ofTenant(name), { value: "tenant" });
    for (const name of ["ofAll", "ofThree", "ofTwo"]) await call("PUT", ofProject(name), { value: "project" });
    const { env, runId } = await run({ ofAll: "trigger" });
    expect(env).to.deep.equal({ ALL: "trigger", THREE: "definition", TWO: "project", ONE: "tenant" });
    const { detail } = await call("GET", `/pipelines/runs/${runId}`);
    expect(detail.variables).to.deep.equal({ ofAll: "trigger" });
    expect(detail.inheritedVariables).to.deep.equal({
      ofAll: "project",
      ofThree: "project",
      ofTwo: "project",
      ofTenant: "tenant",
    });
  });

  it("stay for a run as they were at its trigger", async () => {
    await call("PUT", ofProject("ofTwo"), { value: "before" });
    const { runId, env } = await run();
    await call("PUT", ofProject("ofTwo"), { value: "after" });
    expect((await run()).env, "a new run").to.include({ TWO: "after" });
    expect(env).to.include({ TWO: "before" });
    const { detail } = await call("GET", `/pipelines/runs/${runId}`);
    expect(detail.inheritedVariables).to.include({ ofTwo: "before" });
  });

  it("have no name of millrace itself, and none that expressions cannot read", async () => {
    for (const name of ["MILLRACE_RUN_ID", "millrace_x", "1st", "a-b", "x".repeat(129), "__proto__"]) {
      const refused = await send("PUT", ofProject(name), { value: "x" });
      expect([refused.status, refused.body.errors?.[0]?.pointer], name).to.deep.equal([400, "/name"]);
    }
  });

  it("have bounds on each value, on their number and on all of them together", async () => {
    const { bytes, bytesInAll, count } = VARIABLE_BOUNDS;
    const long = "é".repeat(bytes / 2);
    expect((await send("PUT", ofTenant("v"), { value: `${long}x` })).status).to.equal(400);
    expect((await send("PUT", ofTenant("v"), { value: "a\0" })).status).to.equal(400);
    const other = (await call("POST", "/tenants", { name: "large" })).detail.tenantId;
    let refused;
    let set = 0;
    for (; refused === undefined && set <= bytesInAll / bytes; set++) {
      const answer = await send("PUT", `/tenants/${other}/variables/v${set}`, { value: long });
      if (answer.status !== 200) refused = answer.body.reason;
    }
    expect([refused, set]).to.deep.equal(["too_large", bytesInAll / bytes]);
    const many = (await call("POST", "/tenants", { name: "many" })).detail.tenantId;
    const variables = Array.from({ length: count }, (_, n) => ({
      name: `n${n}`,
      value: "",
      updatedAt: 0,
      updatedBy: "",
    }));
    await edge.context.stores.documents.save({
      kind: "variables",
      owner: `tenant/${many}`,
      version: 1,
      body: { variables },
    } as never);
    expect((await send("PUT", `/tenants/${many}/variables/m`, { value: "" })).body.reason).to.equal("too_large");
    expect((await send("PUT", `/tenants/${many}/variables/n1`, { value: "x" })).status).to.equal(200);
  });

  it("that are set at the same moment are all there", async () => {
    const names = Array.from({ length: 8 }, (_, n) => `at_once_${n}`);
    await Promise.all(names.map((name) => call("PUT", ofTenant(name), { value: name })));
    const { list } = (await call("GET", ofTenant())).detail;
    expect(list.map(({ name }: { name: string }) => name)).to.include.members(names);
  });

  it("are changed only as they were read, where the caller says so", async () => {
    const { headers } = await send("PUT", ofProject("tagged"), { value: "1" });
    const tag = { headers: { "if-match": headers.get("etag")! } };
    expect((await send("PUT", ofProject("tagged"), { value: "2" }, tag)).status).to.equal(200);
    expect((await send("PUT", ofProject("tagged"), { value: "3" }, tag)).status).to.equal(412);
    expect((await send("DELETE", ofProject("tagged"), undefined, tag)).status).to.equal(412);
  });

  it("are seen with the project, and changed with a higher role", async () => {
    const [viewer, maintainer] = [await edge.userWithRole("viewer"), await edge.userWithRole("maintainer")];
    for (const path of [ofTenant("ofTwo"), ofProject("ofTwo")]) {
      expect((await send("GET", path, undefined, viewer)).status).to.equal(200);
      expect((await send("PUT", path, { value: "x" }, viewer)).status).to.equal(403);
      expect((await send("PUT", path, { value: "x" }, maintainer)).status).to.equal(200);
    }
    for (const path of [`/tenants/${newId("tnt")}/variables`, `/projects/${newId("prj")}/variables`]) {
      expect((await send("GET", path)).status).to.equal(404);
    }
  });
});
