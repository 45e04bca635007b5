/** A step run that waits is changed over HTTP. What the job decides is in test/actors/job and test/e2e/waiting.test.ts. */
import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { planOf } from "../support/plans.ts";
import { saveTurn, type StoredRun, storeRun } from "../support/stored-runs.ts";
import { until } from "../support/until.ts";

describe("the change of a step run over HTTP", () => {
  let edge: TestEdge;
  let run: StoredRun;
  before(async () => void (edge = await openTestEdge()));
  after(() => edge.close());
  beforeEach(async () => {
    const { body } = await edge.call("POST", "/api/v1/pipelines", { body: { name: newId("pl") } });
    run = await storeRun(edge.context, { ...planOf([[{ name: "build" }]]), pipelineId: body.detail.pipelineId });
  });

  const stepRunId = () => run.stepIds[0]![0]!;
  const pathOf = (id: string = stepRunId()) => `/api/v1/pipelines/${run.pipelineId}/runs/${run.runId}/steps/${id}`;
  const patch = (body: object, more: object = {}) => edge.call("PATCH", pathOf(), { body, ...more });
  /** Decides the next command as the run does; `accepted` saves what it asks for. */
  async function decideNext(outcome: "accepted" | "refused", status: "pending" | "queued" | "success") {
    const { inbox } = edge.context.stores;
    const command = await until("a stored command", async () => (await inbox.pending(run.runId))[0]);
    if (command.kind !== "updateStep") throw new Error(`a command ${command.kind}`);
    const { priority, metadata } = command.change;
    if (outcome === "accepted") {
      await saveTurn(edge.context, run, {
        jobs: [{ jobId: run.jobIds[0]!, state: "pending", ...(priority !== undefined && { priority }) }],
        steps: [{ stepRunId: stepRunId(), state: "pending", ...(metadata !== undefined && { metadata }) }],
      });
    }
    await inbox.answer(command.id, { outcome, status });
    return command;
  }

  it("answers and shows the new priority and metadata once the job has taken them, and records who did it", async () => {
    const body = { priority: 7, metadata: { ticket: "OPS-7", note: "soon" }, requestId: "u1" };
    const [answer, command] = await Promise.all([patch(body), decideNext("accepted", "pending")]);
    const ids = { stepRunId: stepRunId(), jobId: run.jobIds[0]!, runId: run.runId };
    const { priority, metadata } = body;
    expect(answer.body.detail).to.deep.equal({ ...ids, status: "pending", statusCode: 1, priority, metadata });
    expect(command).to.include({ operator: "admin", actor: "admin", jobId: ids.jobId });
    expect((await patch(body)).body.detail, "a repeat").to.deep.equal(answer.body.detail);
    const { detail } = (await edge.call("GET", `/api/v1/pipelines/runs/${run.runId}`)).body;
    expect([detail.jobs[0].priority, detail.jobs[0].steps[0].metadata]).to.deep.equal([7, metadata]);
    const { list } = (await edge.call("GET", `/api/v1/audit?object=${ids.stepRunId}`)).body.detail;
    expect(list[0]).to.deep.include({
      before: { priority: 0, metadataKeys: [] },
      after: { priority: 7, metadataKeys: ["ticket", "note"] },
    });
  });

  it("is refused with the reason", async () => {
    const reasons = { pending: "leave the priority out", queued: "has been dispatched", success: "it has ended" };
    for (const [status, reason] of Object.entries(reasons)) {
      const [{ body }] = await Promise.all([patch({ priority: 1 }), decideNext("refused", status as "pending")]);
      expect(body).to.include({ code: 409, reason: "conflict" });
      expect(body.errMsg).to.include(`which is ${status}`).and.include(reason);
    }
    expect((await patch({})).body.errMsg).to.include("only its priority and metadata can be changed");
    const { token } = await edge.userWithRole("operator");
    expect((await patch({ priority: 1 }, { token })).status).to.equal(403);
    expect((await edge.call("PATCH", pathOf("step_none"), { body: { priority: 1 } })).status).to.equal(404);
    const elsewhere = pathOf().replace(run.pipelineId, "pl_other");
    expect((await edge.call("PATCH", elsewhere, { body: { priority: 1 } })).status).to.equal(404);
  });

  it("is made only on the state that the caller has read", async () => {
    const read = (token?: string) => edge.call("GET", pathOf(), token === undefined ? {} : { token });
    const { body, headers } = await read((await edge.userWithRole("viewer")).token);
    const ids = { stepRunId: stepRunId(), jobId: run.jobIds[0]!, runId: run.runId };
    expect(body.detail).to.deep.equal({ ...ids, status: "pending", statusCode: 1, priority: 0, metadata: {} });
    const tagged = { headers: { "if-match": headers.get("etag")! } };
    const [answer, command] = await Promise.all([patch({ priority: 7 }, tagged), decideNext("accepted", "pending")]);
    expect(command).to.deep.include({ change: { priority: 7 }, expected: { priority: 0, metadata: [] } });
    expect((await read()).headers.get("etag")).to.equal(answer.headers.get("etag"));
    const stale = await patch({ priority: 8 }, tagged);
    expect([stale.status, stale.body.reason]).to.deep.equal([412, "precondition_failed"]);

    // Another change is made between the look of this call and the decision of the job.
    const late = { headers: { "if-match": answer.headers.get("etag")! } };
    const overtake = async () => {
      await until("a stored command", async () => (await edge.context.stores.inbox.pending(run.runId))[0]);
      await saveTurn(edge.context, run, { jobs: [{ jobId: ids.jobId, state: "pending", priority: 50 }] });
      return decideNext("refused", "pending");
    };
    const [refused] = await Promise.all([patch({ priority: 9 }, late), overtake()]);
    expect([refused.status, refused.body.reason]).to.deep.equal([412, "precondition_failed"]);
    expect((await edge.call("GET", pathOf("step_none"))).status).to.equal(404);
  });

  it("names every problem of a bad body", async () => {
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`k${at}`, ""]));
    const problems = async (body: object) => {
      const answer = await patch(body);
      expect(answer.status).to.equal(400);
      return answer.body.errors.map(({ pointer }: { pointer: string }) => pointer);
    };
    expect(await problems({ priority: 101, metadata: many, spec: {} })).to.have.members([
      "/priority",
      "/metadata",
      "/spec",
    ]);
    expect(await problems({ metadata: { "": "a", long: "x".repeat(501) } })).to.have.members([
      "/metadata/",
      "/metadata/long",
    ]);
    expect(await problems({ metadata: JSON.parse('{"__proto__":"a"}') })).to.have.length(1);
  });
});
