import { expect } from "chai";
import type { Timers } from "../../../src/domain/clock.ts";
import { Passes } from "../../../src/domain/work/passes.ts";

describe("passes", () => {
  /** Timers that fire when the test says so. */
  class Waits implements Timers {
    now = 0;
    due: { readonly ms: number; readonly run: () => void } | undefined;

    after(ms: number, run: () => void): () => void {
      const wait = { ms, run };
      this.due = wait;
      return () => void (this.due === wait && (this.due = undefined));
    }

    fire(): void {
      const { due } = this;
      this.due = undefined;
      this.now += due!.ms;
      due!.run();
    }
  }

  function open(pass: () => Promise<void> = () => Promise.resolve()) {
    const waits = new Waits();
    const failures: unknown[] = [];
    let count = 0;
    const passes = new Passes({
      clock: { monotonic: () => waits.now },
      timers: waits,
      periodMs: () => 1_000,
      pass: () => (count++, pass()),
      onFailure: (error) => failures.push(error),
    });
    return { passes, waits, failures, count: () => count };
  }
  const settle = () => new Promise(setImmediate);

  it("come at the multiples of the period, also after one that has failed", async () => {
    const { passes, waits, failures, count } = open(() => Promise.reject(new Error("away")));
    passes.start();
    waits.now = 0;
    for (const at of [1_000, 2_000]) {
      waits.fire();
      await settle();
      expect(waits.now).to.equal(at);
    }
    expect([count(), failures.length]).to.deep.equal([2, 2]);
    await passes.stop();
    expect(waits.due).to.equal(undefined);
  });

  it("come after a rest that the present one asks for", async () => {
    let rests = 2;
    const { passes, waits, count } = open(() => Promise.resolve(rests-- > 0 ? passes.hurry(40) : undefined));
    passes.start();
    for (const at of [1_000, 1_040, 1_080, 2_000]) {
      waits.fire();
      await settle();
      expect(waits.now).to.equal(at);
    }
    expect(count()).to.equal(4);
    await passes.stop();
  });

  it("come at once when they are hurried, and behind the present one, of which there is never a second", async () => {
    let free = (): void => {};
    const { passes, waits, count } = open(() => new Promise((resolve) => (free = resolve)));
    passes.start();
    waits.fire();
    await settle();
    passes.hurry();
    expect(waits.due?.ms).to.equal(0);
    waits.fire();
    await settle();
    expect(count()).to.equal(1);
    free();
    await settle();
    expect(count()).to.equal(2);
    free();
    await settle();
    const stopped = passes.stop();
    passes.hurry();
    await stopped;
    expect([passes.state, waits.due]).to.deep.equal(["stopped", undefined]);
  });
});
