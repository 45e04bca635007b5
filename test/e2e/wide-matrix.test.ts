/** The widest matrices through the real program: 32 x 32 cells of which four run at once. */
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import { openTestNodes, type TestNodes } from "../support/nodes.ts";
import { until } from "../support/until.ts";
import { CELLS, ONE_MATRIX, TWO_MATRICES } from "../support/wide-matrices.ts";
import { WorkMeter } from "../support/work-meter.ts";

const ADMIN = "an-administrator-token-for-this-test-only";
/** Ids of a cell and of its step, the key of its texts, and as much again for the stop. */
const HASHES_OF_CELL = 12;

describe("a run of 32 x 32 cells of which four run at once", function () {
  this.timeout(60_000);
  let nodes: TestNodes;
  let origin: string;

  before(async () => {
    nodes = await openTestNodes({ shards: 4 });
    const node = await nodes.start("edge,gateway,worker", { MILLRACE_BOOTSTRAP_TOKEN: ADMIN });
    origin = `http://${node.http}`;
  });
  after(() => nodes.close());

  // oxlint-disable-next-line typescript/no-explicit-any -- tests read any answer
  async function call(method: string, path: string, body?: unknown): Promise<any> {
    const headers = { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" };
    const answer = await fetch(`${origin}/api/v1/pipelines${path}`, { method, headers, body: JSON.stringify(body) });
    const { detail } = (await answer.json()) as { readonly detail: unknown };
    expect(answer.status, `${method} ${path}`).to.equal(200);
    return detail;
  }

  /** Asks for health every 50 ms until `body` has ended; every answer must be good. */
  async function whileHealthy<T>(body: () => Promise<T>): Promise<T> {
    let ended = false;
    const statuses: number[] = [];
    const probe = (async () => {
      while (!ended) {
        statuses.push(
          await fetch(`${origin}/healthz`).then(
            ({ status }) => status,
            () => 0,
          ),
        );
        await pause(50);
      }
    })();
    let result: T;
    try {
      result = await body();
    } finally {
      ended = true;
      await probe;
    }
    expect(new Set(statuses)).to.deep.equal(new Set([200]));
    return result;
  }

  for (const { what, jobs, cells } of [
    { what: "alone", ...ONE_MATRIX, cells: CELLS },
    {
      what: "with needs between two such matrices",
      ...TWO_MATRICES,
      cells: 2 * CELLS,
    },
  ]) {
    it(`is triggered and stopped with work that grows with the cells: ${what}`, async () => {
      const { pipelineId } = await call("POST", "", { name: what });
      await call("POST", `/${pipelineId}/spec/save`, { spec: { jobs } });
      const meter = new WorkMeter();
      await meter.countHashesUntil(() =>
        whileHealthy(async () => {
          const { runId } = await call("POST", `/${pipelineId}/trigger`, {});
          await call("POST", `/${pipelineId}/runs/${runId}/stop`, {});
          await until(
            "the run has ended",
            async () => (await call("GET", `/${pipelineId}/runs/${runId}`)).status === "cancelled",
            20_000,
          );
        }),
      );
      expect(meter.work).to.be.within(2 * cells, HASHES_OF_CELL * cells);
      expect(nodes.logged.filter(({ message }) => message.includes("lease of a shard ran out"))).to.deep.equal([]);
    });
  }
});
