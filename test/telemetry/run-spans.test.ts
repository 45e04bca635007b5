/** The traces of ended runs: they follow from the store, so a process that ends in between loses none and changes none. */
import { expect } from "chai";
import { countRuns } from "../../src/app/statistics/count-runs.ts";
import { newId, type PipelineId } from "../../src/domain/ids.ts";
import type { Span } from "../../src/telemetry/spans.ts";
import { openTestEdge, type TestEdge } from "../support/edge.ts";
import { LargeRun } from "../support/large-runs.ts";
import { planOf } from "../support/plans.ts";
import { storeEnded } from "../support/stored-large-runs.ts";

describe("the trace of an ended run", () => {
  let edge: TestEdge;
  before(async () => (edge = await openTestEdge()));
  after(() => edge.close());

  it("is sent again, the same, when the process ends before the run is counted, and not after that", async () => {
    const created = await edge.call("POST", "/api/v1/pipelines", { body: { name: "traced" } });
    const pipelineId: PipelineId = created.body.detail.pipelineId;
    const planned = { ...planOf([[{ name: "build" }, { name: "test" }]]), pipelineId };
    const run = new LargeRun(planned, undefined, undefined, newId("run"));
    run.pass(100);
    run.claim(run.jobs("queued"));
    run.pass(1_000);
    run.finish(({ jobIndex }) => (jobIndex === 0 ? "succeeded" : "failed"));
    const runId = await storeEnded(edge.context.stores, run, planned);
    edge.skewMs = (await edge.context.stores.aggregates.loadHead(runId))!.summary.endedAt! + 1_000 - Date.now();

    const sent: (readonly Span[])[] = [];
    const spans = { export: async (some: readonly Span[]) => void sent.push(some) };
    const count = async (stores: TestEdge["context"]["stores"]): Promise<void> => {
      for await (const _ of countRuns({ ...edge.context, stores, spans }, 10));
    };
    const { stores } = edge.context;
    const killed = new Proxy(stores.statistics, {
      get: (target, name) =>
        name === "add" ? () => Promise.reject(new Error("killed")) : (Reflect.get(target, name) as unknown),
    });
    const failure = await count({ ...stores, statistics: killed }).catch((error: unknown) => error);
    expect(failure).to.be.an("error").with.property("message", "killed");
    await count(stores);
    await count(stores);
    expect(sent).to.have.length(2);
    expect(sent[1]).to.deep.equal(sent[0]);
    const [ofRun, ...others] = sent[0]!.toSorted((a, b) => Number(b.kind === "server") - Number(a.kind === "server"));
    expect(ofRun).to.deep.include({ name: "RUN traced", parentSpanId: null, links: [] });
    expect(new Set(sent[0]!.map(({ spanId }) => spanId)).size).to.equal(sent[0]!.length);
    expect(new Set(sent[0]!.map(({ traceId }) => traceId)).size).to.equal(1);
    const results = others.map(({ name, attributes }) => [name, attributes["cicd.pipeline.task.run.result"]]);
    expect(results).to.deep.include.members([
      ["build", "success"],
      ["test", "failure"],
    ]);
  });
});
