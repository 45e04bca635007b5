import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import { type Answer, openTestEdge, type TestEdge } from "../support/edge.ts";

const VALUE = "hunter22-of-the-test";

describe("secrets over HTTP", () => {
  let edge: TestEdge;
  let pipelineId: string;
  let seen: string;
  const logged: unknown[] = [];

  before(async () => {
    edge = await openTestEdge();
    const record = (...line: unknown[]) => void logged.push(line);
    Object.assign(edge.context, { log: { debug: record, info: record, warn: record, error: record } });
    const pipeline = await edge.call("POST", "/api/v1/pipelines", { body: { name: "p" } });
    ({ pipelineId } = pipeline.body.detail);
    seen = "";
  });
  after(() => edge.close());
  afterEach(() => {
    expect(seen, "an answer").not.to.include("hunter22");
    expect(JSON.stringify(logged), "the log").not.to.include("hunter22");
  });

  const project = "/projects/default/secrets";
  const ofPipeline = () => `/pipelines/${pipelineId}/secrets`;
  async function call(method: string, path: string, body?: unknown, token?: string): Promise<Answer> {
    const answer = await edge.call(method, `/api/v1${path}`, {
      ...(body === undefined ? {} : { body }),
      ...(token && { token }),
    });
    seen += JSON.stringify(answer.body) + JSON.stringify([...answer.headers]);
    return answer;
  }
  const names = async (path: string) =>
    (await call("GET", path)).body.detail.list.map(({ name }: { name: string }) => name);

  it("are created, listed without values, given new values and deleted", async () => {
    const created = await call("POST", project, { name: "DEPLOY_KEY", value: VALUE });
    expect(created.body).to.include({ code: 0 });
    const { createdAt, ...rest } = created.body.detail;
    expect(rest).to.deep.equal({
      name: "DEPLOY_KEY",
      scope: "project",
      projectId: "default",
      pipelineId: null,
      version: 1,
      createdBy: "admin",
      updatedAt: createdAt,
      updatedBy: "admin",
    });
    const { name, token } = await edge.userWithRole("maintainer");
    const replaced = await call("PUT", `${project}/DEPLOY_KEY`, { value: `${VALUE}-2` }, token);
    expect(replaced.body.detail).to.include({ version: 2, createdBy: "admin", updatedBy: name });
    const { detail } = (await call("GET", project)).body;
    const page = { total: 1, totalIsExact: true, page: 1, pageSize: 20, next: null };
    expect(detail).to.deep.equal({ list: [replaced.body.detail], ...page });
    expect((await call("DELETE", `${project}/DEPLOY_KEY`)).body.code).to.equal(0);
    expect(await names(project)).to.deep.equal([]);
    for (const [method, body] of [
      ["PUT", { value: VALUE }],
      ["DELETE", undefined],
    ] as const) {
      expect((await call(method, `${project}/DEPLOY_KEY`, body)).body).to.include({ code: 404, reason: "not_found" });
    }
  });

  it("belong to a project or a pipeline, and are deleted with the pipeline", async () => {
    await call("POST", project, { name: "BOTH", value: VALUE });
    const own = await call("POST", ofPipeline(), { name: "BOTH", value: VALUE });
    expect(own.body.detail).to.include({ scope: "pipeline", pipelineId, projectId: "default", version: 1 });
    expect((await call("POST", ofPipeline(), { name: "BOTH", value: VALUE })).body).to.include({
      code: 409,
      reason: "already_exists",
    });
    expect(await names(ofPipeline())).to.deep.equal(["BOTH"]);
    for (const path of ["/projects/nowhere/secrets", `/pipelines/${newId("pl")}/secrets`]) {
      for (const [method, body] of [
        ["GET", undefined],
        ["POST", { name: "A", value: VALUE }],
      ] as const) {
        expect((await call(method, path, body)).status, `${method} ${path}`).to.equal(404);
      }
    }
    await call("DELETE", `/pipelines/${pipelineId}`);
    const left = await edge.context.stores.secrets.list(
      { projectId: "default" as never, pipelineId: pipelineId as never },
      { page: 1, pageSize: 9 },
    );
    expect(left.total).to.equal(0);
    expect(await names(project)).to.deep.equal(["BOTH"]);
    pipelineId = (await call("POST", "/pipelines", { name: "p" })).body.detail.pipelineId;
  });

  it("are for maintainers and above", async () => {
    const allowed = { owner: 0, admin: 0, maintainer: 0, operator: 403, viewer: 403 } as const;
    for (const [role, code] of Object.entries(allowed) as [keyof typeof allowed, number][]) {
      const { token } = await edge.userWithRole(role);
      for (const path of [project, ofPipeline()]) {
        const secret = `${path}/OF_${role}`;
        const answers = [
          await call("POST", path, { name: `OF_${role}`, value: VALUE }, token),
          await call("GET", path, undefined, token),
          await call("PUT", secret, { value: VALUE }, token),
          await call("DELETE", secret, undefined, token),
        ];
        expect(
          answers.map(({ body }) => body.code),
          `${role} ${path}`,
        ).to.deep.equal([code, code, code, code]);
      }
    }
  });

  it("are refused with every problem named, and without any part of the value", async () => {
    const bad: readonly (readonly [body: object, ...pointers: string[]])[] = [
      [{}, "/name", "/value"],
      [{ name: "a-b", value: ` ${"abc"}\n` }, "/name", "/value"],
      [{ name: "A", value: `${VALUE}${"x".repeat(65_536)}` }, "/value"],
      [{ name: "A", value: `${VALUE}\0` }, "/value"],
      [{ name: "A", value: `${VALUE}\ud800` }, "/value"],
      [{ name: "A", value: { password: VALUE } }, "/value"],
      [{ name: VALUE, value: VALUE }, "/name"],
      [{ name: "A", value: VALUE, values: VALUE }, "/values"],
    ];
    for (const [body, ...pointers] of bad) {
      const answer = await call("POST", project, body);
      expect(answer.status, JSON.stringify(pointers)).to.equal(400);
      expect(answer.body.errors.map(({ pointer }: { pointer: string }) => pointer)).to.have.members(pointers);
    }
    for (const raw of [`{"name": "A", "value": "${VALUE}`, `{"value": ${VALUE}}`, `"${VALUE}"`, `["${VALUE}"]`]) {
      const answer = await edge.call("POST", `/api/v1${project}`, { raw });
      expect(answer.status).to.equal(400);
      seen += JSON.stringify(answer.body);
    }
    const whole = await call("POST", project, { name: "LONGEST", value: "x".repeat(65_536) });
    expect(whole.body.code).to.equal(0);
  });

  it("are logged by their names only", () => {
    const logText = JSON.stringify(logged);
    for (const words of ["a secret was created", "a secret was given a new value", "a secret was deleted"]) {
      expect(logText).to.include(words);
    }
  });
});
