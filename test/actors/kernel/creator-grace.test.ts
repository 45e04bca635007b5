/** Until when the owner of a run leaves to its creator what the first turn owes. */
import { expect } from "chai";
import { graceOf, isGraceOver, isInGrace } from "../../../actors/kernel/creator-grace.ts";
import { type RootId, scheduledRunId } from "../../../src/domain/ids.ts";
import type { AggregateHead, OwedRecord } from "../../../src/stores/ports/aggregates.ts";

const GRACE_MS = 1_500;
const NOW = 1_800_000_000_000;
const OWED = [{ effect: { type: "publish", events: [] } }] as unknown as readonly OwedRecord[];

/** A head that nothing was saved on since its creation. */
const createdAt = (at: number) => ({ version: 1, owed: OWED, summary: { createdAt: at } }) as AggregateHead<RootId>;

describe("the grace of a creator", () => {
  it("ends a fixed time after the creation, however often the run is loaded", () => {
    for (const now of [NOW, NOW + 500, NOW + 1_499]) {
      const grace = graceOf(createdAt(NOW), now, GRACE_MS);
      expect(isGraceOver(grace, now)).to.equal(false);
      expect(isGraceOver(grace, NOW + GRACE_MS)).to.equal(true);
    }
    expect(isGraceOver(graceOf(createdAt(NOW), NOW + GRACE_MS, GRACE_MS), NOW + GRACE_MS)).to.equal(true);
  });

  it("is over at once when the creator's clock is far ahead, and waits for one that is a little ahead", () => {
    const far = graceOf(createdAt(NOW + 34_000), NOW, GRACE_MS);
    expect(isGraceOver(far, NOW)).to.equal(true);
    const near = graceOf(createdAt(NOW + 20), NOW, GRACE_MS);
    expect(isGraceOver(near, NOW)).to.equal(false);
    expect(isGraceOver(near, NOW + 20 + GRACE_MS)).to.equal(true);
  });

  it("is judged by the time in the id of a run that is not in memory as by its head", () => {
    for (const aheadMs of [-GRACE_MS, -1, 0, 20, GRACE_MS, 34_000]) {
      const runId = scheduledRunId("a", NOW + aheadMs);
      const isLeft = !isGraceOver(graceOf(createdAt(NOW + aheadMs), NOW, GRACE_MS), NOW);
      expect(isInGrace(runId, NOW, GRACE_MS), `${aheadMs} ms ahead`).to.equal(isLeft);
    }
  });
});
