/** The counted calls of a run, with the binding of SQLite that this release of Node uses. */
import { expect } from "chai";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCounted } from "../../bench/millrace/operations.ts";

const RUNS = 5;

describe("the benchmark's counter of calls", function () {
  this.timeout(60_000);
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-operations-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it("counts the calls of a run to SQLite and to Redis", async () => {
    const { operations, stop } = await startCounted(folder);
    try {
      const figures = await operations(RUNS);
      const counts = new Map(figures.map(({ metric, value }) => [metric, value]));
      // The creation of the run and its three turns. The node's upkeep may commit in the moment that is counted.
      expect(counts.get("SQLite COMMIT")).to.be.within(4 - 2 / RUNS, 4 + 2 / RUNS);
      expect(counts.get("SQLite BEGIN")).to.be.within(4 - 2 / RUNS, 4 + 2 / RUNS);
      for (const kind of ["SQLite run", "SQLite get", "Redis evalsha"]) {
        expect(counts.get(kind), kind).to.be.within(5, 20);
      }
    } finally {
      await stop();
    }
  });
});
