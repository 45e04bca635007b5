import { expect } from "chai";
import { BadRequest } from "../../proto/generated/google/rpc/error_details.ts";
import { Status } from "../../proto/generated/google/rpc/status.ts";
import type { Problem } from "../../src/domain/errors.ts";
import { createGrpcServer, type GrpcServer } from "../../src/grpc/server.ts";
import { readinessReader } from "../../src/app/readiness.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";
import { MAX_COUNTED, MAX_PASSED } from "../../src/stores/ports/pages.ts";
import { type Answer, openTestEdge, type TestEdge } from "../support/edge.ts";
import { refusal } from "./gateway.ts";
import { NO_FIELDS } from "./pipeline-samples.ts";
import { UserCalls } from "./user-calls.ts";

const LONG = "x".repeat(300);

describe("the same bad input over HTTP and gRPC", () => {
  let edge: TestEdge;
  let server: GrpcServer;
  let calls: UserCalls;

  before(async () => {
    edge = await openTestEdge();
    server = createGrpcServer(edge.context, { readiness: readinessReader(edge.context, {}) });
    calls = new UserCalls(`127.0.0.1:${await server.start("127.0.0.1:0")}`, edge.adminToken);
  });
  after(async () => {
    calls.close();
    await server.stop(0);
    await edge.close();
  });

  async function overGrpc(call: Promise<unknown>) {
    const error = await refusal(call);
    const [problems, details] = ["problems-bin", "grpc-status-details-bin"].map(
      (name) => error.metadata.get(name)[0] as Buffer,
    );
    const bad = Status.decode(details!).details.find(({ typeUrl }) => typeUrl.endsWith("/google.rpc.BadRequest"))!;
    return {
      problems: JSON.parse(problems!.toString()) as Problem[],
      reasons: BadRequest.decode(bad.value).fieldViolations.map(({ field, reason }) => [field, reason]),
      text: error.details,
    };
  }

  async function expectSame(http: () => Promise<Answer>, grpc: () => Promise<unknown>) {
    const { status, body } = await http();
    const { problems, reasons, text } = await overGrpc(grpc());
    expect([status, body.reason]).to.deep.equal([400, "malformed_request"]);
    expect(problems).to.deep.equal(body.errors);
    expect(reasons.map(([, reason]) => reason)).to.deep.equal(problems.map(({ code }) => code.toUpperCase()));
    for (const { pointer, message } of problems) expect(text).to.include(`${pointer} ${message}`);
    return { problems };
  }

  it("has the same problems: codes, pointers and messages", async () => {
    const { pipelineId } = (await edge.call("POST", "/api/v1/pipelines", { body: { name: "same" } })).body.detail;
    const at = `/api/v1/pipelines/${pipelineId}`;
    const cases = [
      {
        http: () => edge.call("POST", "/api/v1/pipelines", { body: { projectId: LONG, metadata: {} } }),
        grpc: () => calls.pipeline("createPipeline", { fields: { ...NO_FIELDS, projectId: LONG } }),
        codes: ["too_big", "required"],
      },
      {
        http: () => edge.call("PUT", at, { body: { name: " ", metadata: { "a/b~c": "y".repeat(10_001) } } }),
        grpc: () =>
          calls.pipeline("updatePipeline", {
            pipelineId,
            fields: { ...NO_FIELDS, name: " ", metadata: { "a/b~c": "y".repeat(10_001) } },
          }),
        codes: ["invalid_format", "too_big"],
      },
      {
        http: () => edge.call("GET", "/api/v1/pipelines?pageSize=101&sort=colour"),
        grpc: () => calls.pipeline("listPipelines", { pageSize: 101, sort: "colour" }),
        codes: ["custom", "invalid_value"],
      },
      {
        http: () => edge.call("POST", `${at}/trigger`, { body: { requestId: LONG } }),
        grpc: () => calls.pipeline("triggerPipeline", { pipelineId, requestId: LONG }),
        codes: ["too_big"],
      },
      {
        http: () => edge.call("POST", `${at}/runs/run_x/rerun`, { body: { scope: "step" } }),
        grpc: () => calls.pipeline("rerunPipeline", { pipelineId, runId: "run_x", scope: "RERUN_SCOPE_STEP" }),
        codes: ["custom"],
      },
      {
        http: () => edge.call("POST", `${at}/spec/validate`, { body: {} }),
        grpc: () => calls.pipeline("validateSpec", { pipelineId }),
        codes: ["invalid_type"],
      },
    ];
    for (const { http, grpc, codes } of cases) {
      const { problems } = await expectSame(http, grpc);
      expect(problems.map(({ code }) => code)).to.have.members(codes);
    }
  });

  it("refuses a page that begins behind item 100,000, and says how to go on", async () => {
    const { projectId } = (await edge.call("POST", "/api/v1/projects", { body: { name: "many" } })).body.detail;
    await edge.call("POST", "/api/v1/pipelines", { body: { name: "newest", projectId } });
    // More than are counted, so that the answer cannot say whether the page exists.
    const direct = new SqliteConnection(edge.storePath);
    direct
      .prepare(
        `INSERT INTO pipelines (pipeline_id, project_id, name, search_name, created_at, body)
         WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i <= ?)
         SELECT 'pl_many_' || i, project_id, 'p' || i, 'p' || i, i,
           json_set(body, '$.pipelineId', 'pl_many_' || i, '$.name', 'p' || i, '$.createdAt', i)
         FROM n, (SELECT project_id, body FROM pipelines WHERE project_id = ?)`,
      )
      .run(MAX_COUNTED, projectId);
    direct.close();
    const query = `projectId=${projectId}&sort=createdAt&pageSize=100`;
    const [page, refused] = [MAX_PASSED / 100 + 1, MAX_PASSED / 100 + 2];
    const list = async (more: string) => (await edge.call("GET", `/api/v1/pipelines?${query}${more}`)).body.detail;
    expect(await list(`&page=${page}`), "the last page by its number").to.deep.include({
      list: [],
      totalIsExact: false,
    });
    const request = { projectId, sort: "createdAt", pageSize: 100 };
    const { problems } = await expectSame(
      () => edge.call("GET", `/api/v1/pipelines?${query}&page=${refused}`),
      () => calls.pipeline("listPipelines", { ...request, page: refused }),
    );
    expect(problems).to.deep.equal([
      {
        code: "too_big",
        pointer: "/page",
        message:
          "begins behind item 100000 of the list: go on from page to page with `after`, the `next` of the page before",
      },
    ]);

    const first = await list("");
    const overGrpcFirst = await calls.pipeline("listPipelines", request);
    expect(overGrpcFirst).to.include({ total: 10_000n, totalIsExact: false, next: first.next });
    const second = await calls.pipeline("listPipelines", { ...request, page: refused, after: first.next });
    const idsOf = (pipelines: readonly { readonly pipelineId: string }[]) =>
      pipelines.map(({ pipelineId }) => pipelineId);
    expect(idsOf(second.pipelines)).to.deep.equal(idsOf((await list(`&page=${refused}&after=${first.next}`)).list));
    expect(second.pipelines[0]!.pipelineId).to.equal("pl_many_101");
  });
});
