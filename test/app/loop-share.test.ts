import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { LoopShare } from "../../src/app/loop-share.ts";

/** Computes for this time. */
function work(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end;);
}

describe("the share of bulk work in the event loop", () => {
  it("lets the event loop turn after a few milliseconds of pieces, however many wait", async () => {
    const share = new LoopShare(5);
    let done = 0;
    const pieces = Array.from({ length: 60 }, async () => {
      await share.enter();
      work(1);
      done++;
    });
    const perTurn: number[] = [];
    for (let before = 0; done < 60; before = done) {
      await nextTurn();
      perTurn.push(done - before);
    }
    await Promise.all(pieces);
    // Five pieces of a millisecond fit into a slice. A turn that the machine interrupted has fewer.
    expect(Math.max(...perTurn.slice(1))).to.be.at.most(6);
  });

  it("begins pieces in the order of their calls, and at once while there is time", async () => {
    const share = new LoopShare(1_000);
    const order: number[] = [];
    let turned = false;
    setImmediate(() => (turned = true));
    await Promise.all([1, 2, 3].map((n) => share.enter().then(() => order.push(n))));
    expect([order, turned]).to.deep.equal([[1, 2, 3], false]);
    const tight = new LoopShare(0);
    const later: number[] = [];
    await Promise.race([
      Promise.all([1, 2, 3].map((n) => tight.enter().then(() => later.push(n)))),
      (async () => {
        for (let turn = 0; turn < 100 && later.length < 3; turn++) await nextTurn();
      })(),
    ]);
    expect(later, "a slice without time still moves on").to.deep.equal([1, 2, 3]);
  });
});
