import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { freeQuietGarbage } from "../../src/node/quiet-garbage.ts";
import { until } from "../support/until.ts";

const LOOK_MS = 50;
const MEGABYTE = 1 << 20;

describe("the garbage of a quiet process", () => {
  let collections = 0;
  let heapBytes = 0;
  let end = (): void => {};
  let marking: boolean[] = [];

  beforeEach(() => {
    collections = 0;
    marking = [];
    heapBytes = 40 * MEGABYTE;
  });
  afterEach(() => end());

  /** Each collection leaves `leftBytes`. */
  const begin = (leftBytes = heapBytes): void => {
    const collect = async (): Promise<void> => {
      collections++;
      heapBytes = leftBytes;
    };
    const setMarking = (isOn: boolean): void => void marking.push(isOn);
    end = freeQuietGarbage({ lookMs: LOOK_MS, collect, heapBytes: () => heapBytes, setMarking });
  };

  /** `during` is called when the last look has found nothing but work. */
  const work = async (during = (): void => {}): Promise<void> => {
    for (let round = 0; round < 20; round++) {
      if (round === 10) during();
      for (const until = performance.now() + LOOK_MS / 4; performance.now() < until;);
      // A pause would be long on a busy machine, and the process would be quiet.
      await nextTurn();
    }
  };

  it("is collected although the process makes none that would have V8 collect it", async () => {
    const garbage = new WeakRef({ some: "object" });
    // A WeakRef keeps its object until the present turn of the event loop has ended.
    await sleep(1);
    // The heap of a process that runs many tests may be large.
    end = freeQuietGarbage({ lookMs: LOOK_MS, heapBytes: () => heapBytes });
    await until("the object is gone", () => garbage.deref() === undefined, 10_000);
  });

  it("is collected after the start once, and not before the process is quiet", async () => {
    begin();
    await work();
    expect(collections).to.equal(0);
    await until("it is collected", () => collections > 0, 10_000);
    await sleep(4 * LOOK_MS);
    expect(collections).to.equal(1);
  });

  it("is collected again when the heap has grown by a fifth and the process is quiet again", async () => {
    begin();
    await until("the start's is collected", () => collections === 1, 10_000);
    heapBytes = 47 * MEGABYTE;
    await sleep(4 * LOOK_MS);
    expect(collections).to.equal(1);
    await work(() => (heapBytes = 48 * MEGABYTE));
    expect(collections).to.equal(1);
    await until("it is collected", () => collections === 2, 10_000);
    await sleep(4 * LOOK_MS);
    expect(collections).to.equal(2);
  });

  it("is collected when the heap has stopped growing, not half-way", async () => {
    let looks = 0;
    let grownBytes = 9 * MEGABYTE;
    const grow = (): number => {
      looks++;
      return (heapBytes += grownBytes);
    };
    const collect = async (): Promise<void> => void collections++;
    end = freeQuietGarbage({ lookMs: LOOK_MS, collect, heapBytes: grow, setMarking: () => {} });
    await until("there were some looks", () => looks > 20, 10_000);
    expect(collections, "that of the start").to.equal(1);
    grownBytes = 0;
    await until("it is collected", () => collections === 2, 10_000);
  });

  it("is collected again later when more of the heap lives", async () => {
    begin(100 * MEGABYTE);
    await until("the start's is collected", () => collections === 1, 10_000);
    heapBytes = 119 * MEGABYTE;
    await sleep(4 * LOOK_MS);
    expect(collections).to.equal(1);
    heapBytes = 120 * MEGABYTE;
    await until("it is collected", () => collections === 2, 10_000);
  });

  it("of a large heap is left to V8", async () => {
    heapBytes = 300 * MEGABYTE;
    begin();
    await sleep(4 * LOOK_MS);
    expect(collections).to.equal(0);
  });

  it("is not looked for by V8 after a collection, until there is work again", async () => {
    begin();
    await until("V8 rests", () => marking.length === 1, 10_000);
    await sleep(4 * LOOK_MS);
    expect(marking).to.deep.equal([false]);
    await until("V8 marks again", async () => {
      await work();
      return marking.length === 2;
    });
    expect([marking, collections]).to.deep.equal([[false, true], 1]);
  });

  it("is looked for by V8 again when the looks have ended", async () => {
    begin();
    await until("V8 rests", () => marking.length === 1, 10_000);
    end();
    expect(marking).to.deep.equal([false, true]);
  });

  it("stays when the process ends before", async () => {
    begin();
    end();
    await sleep(4 * LOOK_MS);
    expect(collections).to.equal(0);
  });
});
