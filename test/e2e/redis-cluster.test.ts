/** An installation on a Redis Cluster of three real masters; what is looked at stands in test/chaos. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { killWorker } from "../chaos/faults/processes.ts";
import { emptyMaster, slotsAreKept } from "../chaos/faults/servers.ts";
import { playScenario } from "../chaos/run-scenario.ts";

const SEED = 20_261_122;

describe("on a Redis Cluster", function () {
  this.timeout(150_000);

  it("50 pipelines run although a worker dies and masters forget, and no command crosses slots", async () => {
    const told: string[] = [];
    const outcome = await playScenario(
      {
        name: "redis-cluster",
        about: "",
        shape: { engine: "clustered", workers: 2, gateways: 1, edges: 1, agents: 2 },
        faults: () => [killWorker, emptyMaster, slotsAreKept],
      },
      { seed: SEED, runs: 50, logFolder: join(tmpdir(), `millrace-chaos-${SEED}`), say: (text) => told.push(text) },
    );
    expect(outcome.violations, told.join("\n")).to.deep.equal([]);
    expect(outcome.runs).to.be.at.least(50);
  });
});
