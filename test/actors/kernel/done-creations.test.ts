import { expect } from "chai";
import { DoneCreations } from "../../../actors/kernel/done-creations.ts";
import type { RunId } from "../../../src/domain/ids.ts";

const MOST = 4_000;
const runId = (number: number) => `run_${number}` as RunId;

describe("the runs whose creators are done", () => {
  it("are forgotten in the order in which they became so, beyond 4,000", () => {
    const done = new DoneCreations();
    for (let at = 0; at < 3 * MOST; at++) {
      done.add(runId(at));
      if (at >= MOST) expect(done.has(runId(at - MOST)), `run ${at - MOST}`).to.equal(false);
      if (at >= MOST) expect(done.has(runId(at - MOST + 1)), `run ${at - MOST + 1}`).to.equal(true);
    }
  });
});
