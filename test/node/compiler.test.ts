import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { optimiseWhileBusy } from "../../src/node/compiler.ts";
import { until } from "../support/until.ts";

const LOOK_MS = 50;

describe("the optimising compiler of V8", () => {
  let shareOfProcessor = 0;
  let changes: boolean[] = [];
  let cancel: () => void = () => {};
  let workBegins: () => void = () => {};

  beforeEach(() => {
    changes = [];
    let taken = 0;
    let askedAt = performance.now();
    cancel = optimiseWhileBusy({
      processorTime: () => {
        const now = performance.now();
        taken += (now - askedAt) * 1_000 * shareOfProcessor;
        askedAt = now;
        return taken;
      },
      setOptimising: (isOn) => void changes.push(isOn),
      lookMs: LOOK_MS,
      whenWorkBegins: (begins) => (workBegins = begins),
    });
  });
  afterEach(() => cancel());

  it("rests until the process has worked for a while, and again while the process has little to do", async () => {
    shareOfProcessor = 0.5;
    await until("it works", () => changes.length === 1, 10_000);
    shareOfProcessor = 0.005;
    await until("it rests", () => changes.length === 2, 10_000);
    await sleep(3 * LOOK_MS);
    expect(changes).to.deep.equal([true, false]);
  });

  it("rests during work that is over soon", async () => {
    for (let time = 0; time < 4; time++) {
      shareOfProcessor = 1;
      await sleep(2 * LOOK_MS);
      shareOfProcessor = 0.005;
      await sleep(3 * LOOK_MS);
    }
    expect(changes).to.deep.equal([]);
  });

  it("works at once when a run begins, and rests when there is little to do behind it", async () => {
    shareOfProcessor = 0.005;
    workBegins();
    workBegins();
    expect(changes).to.deep.equal([true]);
    await until("it rests", () => changes.length === 2, 10_000);
    expect(changes).to.deep.equal([true, false]);
  });

  it("works at the end of the looks, and keeps on", async () => {
    cancel();
    await sleep(3 * LOOK_MS);
    expect(changes).to.deep.equal([true]);
  });
});
