import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { freeStartGarbage } from "../../src/node/start-garbage.ts";
import { until } from "../support/until.ts";

const LOOK_MS = 50;

describe("the garbage of a start", () => {
  it("is collected although the process makes none that would have V8 collect it", async () => {
    const garbage = new WeakRef({ some: "object" });
    // A WeakRef keeps its object until the present turn of the event loop has ended.
    await sleep(1);
    const cancel = freeStartGarbage({ lookMs: LOOK_MS });
    await until("the object is gone", () => garbage.deref() === undefined, 10_000);
    cancel();
  });

  it("is collected once, and not before the process is quiet", async () => {
    let collections = 0;
    const cancel = freeStartGarbage({ lookMs: LOOK_MS, collect: async () => void collections++ });
    for (let round = 0; round < 20; round++) {
      for (const end = performance.now() + LOOK_MS / 4; performance.now() < end;);
      await sleep(1);
    }
    expect(collections).to.equal(0);
    await until("it is collected", () => collections > 0, 10_000);
    await sleep(4 * LOOK_MS);
    expect(collections).to.equal(1);
    cancel();
  });

  it("is followed by no marking in steps until the process is busy again", async () => {
    const changes: string[] = [];
    const cancel = freeStartGarbage({
      lookMs: LOOK_MS,
      collect: async () => void changes.push("collection"),
      setMarking: (isOn) => void changes.push(isOn ? "marking" : "no marking"),
    });
    await until("it is collected", () => changes.length === 2, 10_000);
    await sleep(4 * LOOK_MS);
    expect(changes).to.deep.equal(["collection", "no marking"]);
    await until("the process is seen to be busy", () => {
      for (const end = performance.now() + LOOK_MS; performance.now() < end;);
      return changes.length > 2;
    });
    cancel();
    expect(changes.slice(0, 3)).to.deep.equal(["collection", "no marking", "marking"]);
  });

  it("stays when the process ends before", async () => {
    let collections = 0;
    freeStartGarbage({ lookMs: LOOK_MS, collect: async () => void collections++ })();
    await sleep(4 * LOOK_MS);
    expect(collections).to.equal(0);
  });
});
