import { expect } from "chai";
import { OutgoingBudget } from "../../src/app/outgoing-budget.ts";

describe("the bytes that wait for readers", () => {
  let now = 0;
  const clock = { monotonic: () => now };
  const reader = (bytes: number, tookAt: number) => {
    const made = { bytes, tookAt, ended: false, waitingBytes: () => made.bytes, end: () => void (made.ended = true) };
    return made;
  };

  it("end the deaf readers with the most bytes first, until the others fit, and no reader that reads", () => {
    now = 10_000;
    const budget = new OutgoingBudget(clock, { bytes: 1_000, deafMs: 5_000 });
    const [busy, large, small, middle] = [reader(900, 9_000), reader(600, 0), reader(100, 0), reader(300, 0)] as const;
    const leaves = [busy, large, small, middle].map((each) => budget.enter(each));
    budget.note();
    expect([busy, large, small, middle].map(({ ended }) => ended)).to.deep.equal([false, true, false, true]);
    expect(budget.total).to.equal(1_000);
    for (const leave of leaves) leave();
  });

  it("leave each reader less while they are scarce", () => {
    const budget = new OutgoingBudget(clock, { bytes: 1_000, deafMs: 5_000 });
    const plenty = budget.readerBytes;
    const one = reader(600, now);
    const leave = budget.enter(one);
    budget.note();
    expect(budget.readerBytes).to.be.lessThan(plenty);
    now += 1_000;
    one.bytes = 0;
    budget.note();
    expect(budget.readerBytes).to.equal(plenty);
    leave();
  });
});
