/** The benchmark of removals, in a small form: what it removes, and that triggers are answered meanwhile. */
import { expect } from "chai";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { measureRemoval } from "../../bench/millrace/removal.ts";

const RUNS = 800;
const PACE = { triggers: 20, everyMs: 50, warmUps: 5 };

describe("the benchmark of removals", function () {
  this.timeout(120_000);
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-removal-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it("removes the older half of the stored runs while runs are triggered", async () => {
    const { before, during, after, removed, ratio } = await measureRemoval(join(folder, "data"), RUNS, PACE);
    expect(removed).to.equal(RUNS / 2);
    expect([before.count, after.count]).to.deep.equal([PACE.triggers, PACE.triggers]);
    // At least those that came due while the pruner slept.
    expect(during.count).to.be.above(PACE.triggers);
    expect(ratio).to.be.closeTo((2 * during.p99) / (before.p99 + after.p99), 1e-9);
  });
});
