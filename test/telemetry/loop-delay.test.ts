import { expect } from "chai";
import { Histogram } from "../../src/telemetry/histogram.ts";
import { LoopDelay } from "../../src/telemetry/loop-delay.ts";

const BOUNDS = [0.01, 0.05, 0.25, 1];

describe("the delay of the event loop", () => {
  let delays: Histogram;
  let delay: LoopDelay;
  let now: number;
  let untilNext: number;

  beforeEach(() => {
    delays = new Histogram(BOUNDS);
    now = 5_000;
    delay = new LoopDelay(delays, now);
    untilNext = 100;
  });

  /** Ticks when it is asked for, `lateMs` late. */
  function tick(busyMs: number, lateMs = 0): void {
    now += untilNext + lateMs;
    untilNext = delay.tick(now, busyMs);
  }

  /** Ticks on time until the next tick is a second away. */
  function quieten(): void {
    while (untilNext < 1_000) tick(1);
  }

  it("counts each tenth of a second once, while the loop is busy and while it is quiet", () => {
    for (let n = 0; n < 30; n++) tick(50, 20);
    expect([delays.count, ...delays.upTo]).to.deep.equal([30, 0, 30, 30, 30]);
    const before = delays.count;
    const since = now;
    quieten();
    for (let n = 0; n < 3; n++) tick(5);
    expect(delays.count - before).to.equal((now - since) / 100);
    expect(delays.upTo[0]).to.equal(delays.count - before);
  });

  it("counts a hang with each tenth that it has missed, at any time", () => {
    tick(350, 350);
    expect([delays.count, ...delays.upTo]).to.deep.equal([4, 0, 1, 3, 4]);
    quieten();
    const before = delays.upTo;
    tick(350, 350);
    const after = delays.upTo;
    expect(after.map((count, at) => count - before[at]!)).to.deep.equal([9, 10, 12, 13]);
  });

  it("counts a hang between two ticks of a quiet loop, and looks ten times a second from then on", () => {
    quieten();
    const before = delays.upTo;
    tick(320);
    expect(untilNext).to.equal(100);
    const after = delays.upTo;
    // Late by 320, 220, 120 and 20 ms.
    expect(after.map((count, at) => count - before[at]!)).to.deep.equal([6, 7, 9, 10]);
  });
});
