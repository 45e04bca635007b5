/** Jumps of the clocks, by which a launcher notices that it did not run for a time. */
import { expect } from "chai";
import { jumpBetween, JumpWatch, type Moment } from "../../../src/agent/process/time-jump.ts";

const HOUR = 3_600_000;

describe("a jump of the clocks", () => {
  const at = (wallMs: number, uptimeMs: number): Moment => ({ wallMs, uptimeMs });
  const from = at(1_000_000_000, 5_000);
  const after = (wallMs: number, uptimeMs: number) =>
    jumpBetween(from, at(from.wallMs + wallMs, from.uptimeMs + uptimeMs), 25);

  it("is none while both clocks go on, also when the process was late or the clock is slewed", () => {
    for (const passed of [0, 25, 26, 500, 1_900]) expect(after(passed, passed), `${passed} ms`).to.equal(0);
    expect(after(30, 25)).to.equal(0);
  });

  it("is a suspension, which both clocks show, or a stop of all processes", () => {
    expect(after(60_025, 60_025)).to.equal(60_000);
    expect(after(10 * HOUR + 25, 10 * HOUR + 25)).to.equal(10 * HOUR);
  });

  it("is seen when only one clock shows it: a virtual machine that continues, or a clock that was set back meanwhile", () => {
    expect(after(60_025, 25)).to.equal(60_000);
    expect(after(-HOUR, 60_025)).to.equal(60_000);
  });

  it("is none when the wall clock is set back, by any amount", () => {
    for (const back of [-1, -1_000, -HOUR, -1_000 * HOUR]) expect(after(back, 25), `${back} ms`).to.equal(0);
    expect(after(-HOUR, 1_000)).to.equal(0);
  });

  it("is told once, and only while the watch is on", () => {
    const told: number[] = [];
    let now = from;
    const watch = new JumpWatch({ now: () => now, everyMs: 25, onJump: (jumpMs) => told.push(jumpMs) });
    const pass = (wallMs: number, uptimeMs: number) => {
      now = at(now.wallMs + wallMs, now.uptimeMs + uptimeMs);
      watch.look();
    };
    pass(HOUR, HOUR);
    watch.start();
    pass(25, 25);
    pass(HOUR + 25, HOUR + 25);
    pass(25, 25);
    pass(-HOUR, 25);
    pass(25, 25);
    // The clock returns to where it was: that is a jump ahead.
    pass(HOUR + 25, 25);
    watch.stop();
    pass(HOUR, HOUR);
    watch.start();
    pass(25, 25);
    watch.stop();
    expect(told).to.deep.equal([HOUR, HOUR]);
  });
});
