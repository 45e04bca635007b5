/** An installation on a Redis Cluster of three real masters; the checks are those of the kill tests in test/chaos. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { killWorker } from "../chaos/faults/processes.ts";
import { emptyMaster, checkSlots } from "../chaos/faults/servers.ts";
import { playScenario } from "../chaos/run-scenario.ts";

const SEED = 20_261_122;

describe("an installation on a Redis Cluster", function () {
  this.timeout(150_000);

  it("keeps every promise when a worker dies and masters lose their data", async () => {
    const output: string[] = [];
    const outcome = await playScenario(
      {
        name: "redis-cluster",
        about: "",
        shape: { engine: "clustered", workers: 2, gateways: 1, edges: 1, agents: 2 },
        faults: () => [killWorker, emptyMaster, checkSlots],
      },
      { seed: SEED, runs: 50, logFolder: join(tmpdir(), `millrace-chaos-${SEED}`), say: (text) => output.push(text) },
    );
    expect(outcome.violations, output.join("\n")).to.deep.equal([]);
    expect(outcome.runs).to.be.at.least(50);
  });
});
