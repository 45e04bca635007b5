/** The feed over all runs between two nodes: the one that takes the turns, and the one that a client follows. */

import { TestEventStream } from "../support/event-stream.ts";
import { openTestNodes, type TestNode, type TestNodes } from "../support/nodes.ts";
import { until } from "../support/until.ts";

const SPEC = { jobs: [{ name: "j", steps: [{ name: "s", uses: "shell", args: { script: "true" } }] }] };

describe("a client of one node that follows all runs", function () {
  this.timeout(60_000);
  let nodes: TestNodes;
  let edge: TestNode;
  let worker: TestNode;
  before(async () => {
    nodes = await openTestNodes({ shards: 2 });
    edge = await nodes.start("edge");
    worker = await nodes.start("edge,gateway,worker");
  });
  after(() => nodes.close());

  it("is told of the runs of another node", async () => {
    const headers = { authorization: `Bearer ${edge.adminToken ?? worker.adminToken}` };
    const port = Number(edge.http!.split(":")[1]);
    const stream = await TestEventStream.open({ port }, "/live/runs", headers);
    await stream.next("caughtUp");
    const call = async (path: string, body: object): Promise<Record<string, string>> => {
      const response = await fetch(`http://${worker.http}/api/v1/pipelines${path}`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return ((await response.json()) as { detail: Record<string, string> }).detail;
    };
    const { pipelineId } = await call("", { name: "followed" });
    await call(`/${pipelineId}/spec/save`, { spec: SPEC });
    const { runId } = await call(`/${pipelineId}/trigger`, {});
    const isTold = (status: string) =>
      until(`the run is ${status}`, () =>
        stream.ofType("run").some(({ data }) => data.runId === runId && data.status === status),
      );
    await isTold("running");
    await call(`/${pipelineId}/runs/${runId}/stop`, {});
    await isTold("cancelled");
    stream.close();
  });
});
