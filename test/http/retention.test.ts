import { expect } from "chai";
import { removeRun } from "../../src/app/runs/remove-run.ts";
import { asId, type ProjectId } from "../../src/domain/ids.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { planOf } from "../support/plans.ts";
import { saveTurn, storeRun } from "../support/stored-runs.ts";

const PATH = "/api/v1/projects/default/retention";
const NOTHING = { age: null, perPipeline: null, perProject: null };

describe("the retention of a project over HTTP", () => {
  let edge: TestEdge;
  before(async () => (edge = await openTestEdge()));
  after(() => edge.close());

  const put = (body: unknown) => edge.call("PUT", PATH, { body });

  it("is that of the installation until a project sets parts of it", async () => {
    expect((await edge.call("GET", PATH)).body.detail).to.deep.equal({
      projectId: "default",
      runs: { ...NOTHING, age: "90d" },
      logs: NOTHING,
      artifacts: NOTHING,
      events: NOTHING,
      own: [],
    });
    const set = await put({ runs: { age: "36h", perProject: 7 }, events: {} });
    expect(set.status).to.equal(200);
    const expected = {
      projectId: "default",
      runs: { age: "36h", perPipeline: null, perProject: 7 },
      logs: NOTHING,
      artifacts: NOTHING,
      events: NOTHING,
      own: ["runs", "events"],
    };
    expect(set.body.detail).to.deep.equal(expected);
    expect((await edge.call("GET", PATH)).body.detail).to.deep.equal(expected);
    const stored = await edge.context.stores.pipelines.findProject(asId<ProjectId>("default"));
    expect(stored!.retention!.runs).to.deep.equal({ ageMs: 129_600_000, perPipeline: null, perProject: 7 });

    expect((await put({})).body.detail).to.deep.include({ runs: { ...NOTHING, age: "90d" }, own: [] });
  });

  it("stays unchanged when a change has problems, which are all named", async () => {
    const refused = await put({ runs: { age: "90", perPipeline: 0 }, logs: { days: 3 }, artefacts: {} });
    expect(refused.status).to.equal(400);
    expect(refused.body.errors.map(({ pointer }: { pointer: string }) => pointer)).to.have.members([
      "/runs/age",
      "/runs/perPipeline",
      "/logs/days",
      "/artefacts",
    ]);
    expect((await edge.call("GET", PATH)).body.detail.own).to.deep.equal([]);
  });

  it("needs an administrator and a known project", async () => {
    const { token } = await edge.userWithRole("maintainer");
    for (const method of ["GET", "PUT"]) {
      const body = method === "PUT" ? { body: {} } : {};
      expect((await edge.call(method, PATH, { token, ...body })).status).to.equal(403);
      expect((await edge.call(method, "/api/v1/projects/none/retention", body)).status).to.equal(404);
    }
  });

  it("brings no deleted run back when its trigger is repeated", async () => {
    const { detail } = (await edge.call("POST", "/api/v1/pipelines", { body: { name: "removed" } })).body;
    const path = `/api/v1/pipelines/${detail.pipelineId}`;
    const spec = { jobs: [{ name: "a", steps: [{ name: "b", uses: "shell", args: { script: "true" } }] }] };
    await edge.call("POST", `${path}/spec/save`, { body: { spec } });
    const trigger = () => edge.call("POST", `${path}/trigger`, { body: { variables: {}, requestId: "once" } });
    const { runId } = (await trigger()).body.detail;
    expect((await trigger()).body.detail.runId).to.equal(runId);
    await removeRun(edge.context, (await edge.context.stores.aggregates.load(runId))!);
    const repeated = await trigger();
    expect(repeated.status).to.equal(409);
    expect(repeated.body.errMsg).to.include("was removed: choose a new requestId");
    expect((await edge.call("GET", `/api/v1/pipelines/runs/${runId}`)).status).to.equal(404);
  });

  it("makes the timeline of a run say that its events were deleted", async () => {
    const plan = planOf([[{ steps: 1 }]]);
    const run = await storeRun(edge.context, plan);
    const event = {
      object: "pipeline",
      lifecycle: "started",
      jobId: null,
      stepRunId: null,
      status: "running",
    } as const;
    await saveTurn(edge.context, run, { events: [{ ...event, data: {} }] });
    const timeline = (after: number) => edge.call("GET", `/api/v1/pipelines/runs/${run.runId}/timeline?after=${after}`);
    expect((await timeline(0)).body.detail.list).to.have.length.greaterThan(0);
    await edge.context.stores.retention.dropEvents(run.runId);
    const refused = await timeline(0);
    expect(refused.status).to.equal(404);
    expect(refused.body.errMsg).to.include("older than the project keeps events");
    const { eventNumber } = (await edge.context.stores.aggregates.loadHead(run.runId))!;
    expect((await timeline(eventNumber)).body.detail.list, "who has them all misses none").to.deep.equal([]);
  });
});
