/** The counted calls of a run, with the binding of SQLite that this release of Node uses. */
import { expect } from "chai";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCounted } from "../../bench/millrace/operations.ts";
import { RUN_COSTS } from "../node/run-costs.ts";

const RUNS = 5;

describe("the benchmark's counter of calls", function () {
  this.timeout(60_000);
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-operations-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it("counts the calls of a run to SQLite, and those of a node to Redis", async () => {
    const { operations, counts: all, stop } = await startCounted(folder);
    try {
      const figures = await operations(RUNS);
      const counts = new Map(figures.map(({ metric, value }) => [metric, value]));
      // The reports of a step's start and of its end may come in one turn. The node's upkeep may commit and read a few times
      // more or less than in the time that counts as idle, less on a busy machine.
      const fewest = RUN_COSTS.commits - 1 - 4 / RUNS;
      const most = RUN_COSTS.commits + 2 / RUNS;
      for (const kind of ["SQLite COMMIT", "SQLite BEGIN"]) expect(counts.get(kind), kind).to.be.within(fewest, most);
      for (const kind of ["SQLite run", "SQLite get"]) {
        expect(counts.get(kind), kind).to.be.within(fewest, RUN_COSTS.statements);
      }
      // The runs ask Redis for nothing, but the upkeep of the node does.
      const ofRedis = Object.entries(await all()).filter(([kind]) => kind.startsWith("Redis "));
      expect(ofRedis.reduce((sum, [, count]) => sum + count, 0)).to.be.above(0);
    } finally {
      await stop();
    }
  });
});
