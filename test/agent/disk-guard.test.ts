import { expect } from "chai";
import { DiskGuard } from "../../src/agent/disk-guard.ts";
import type { DiskSpace } from "../../src/domain/disk-space.ts";

const GIB = 2 ** 30;

describe("the disk guard of an agent", () => {
  let nowMs = 0;
  let space: DiskSpace | Error;
  let logged: string[];
  beforeEach(() => {
    logged = [];
    space = { free: 10 * GIB, total: 100 * GIB };
  });

  function guard(floor: { readonly bytes: number; readonly percent: number }, passesMs = 1_000): DiskGuard {
    const note = (_fields: object, message: string) => void logged.push(message);
    return new DiskGuard({
      folder: "/data",
      floor,
      clock: { monotonic: () => (nowMs += passesMs) },
      log: { debug: note, info: note, warn: note, error: note },
      measure: () => {
        if (space instanceof Error) throw space;
        return space;
      },
    });
  }

  it("lets jobs start while the free space reaches the lesser of its two bounds", () => {
    const cases: [floor: { bytes: number; percent: number }, free: number, mayBegin: boolean][] = [
      [{ bytes: 2 * GIB, percent: 5 }, 2 * GIB, true],
      [{ bytes: 2 * GIB, percent: 5 }, 2 * GIB - 1, false],
      [{ bytes: 9 * GIB, percent: 5 }, 5 * GIB, true],
      [{ bytes: 9 * GIB, percent: 5 }, 5 * GIB - 1, false],
      [{ bytes: 0, percent: 0 }, 0, true],
    ];
    for (const [floor, free, mayBegin] of cases) {
      space = { free, total: 100 * GIB };
      expect(guard(floor).obstacle() === "", JSON.stringify({ floor, free })).to.equal(mayBegin);
    }
  });

  it("logs a shortage once when it begins and once when it ends", () => {
    const looked = guard({ bytes: GIB, percent: 100 });
    looked.obstacle();
    space = { free: 700 * 2 ** 20, total: 100 * GIB };
    expect(looked.obstacle()).to.equal("700 MiB of the agent's disk are free, less than 1024 MiB");
    looked.obstacle();
    space = { free: 2 * GIB, total: 100 * GIB };
    looked.obstacle();
    looked.obstacle();
    expect(logged).to.deep.equal([
      "no more jobs begin on this agent: 700 MiB of the agent's disk are free, less than 1024 MiB",
      "there is room on the disk again: jobs begin",
    ]);
  });

  it("reports a full disk as a possible cause of a failure", () => {
    const looked = guard({ bytes: 0, percent: 0 }, 1);
    expect([looked.obstacle(), looked.fullDiskHint()]).to.deep.equal(["", ""]);
    space = { free: 4_096, total: GIB };
    expect(looked.fullDiskHint()).to.equal("the agent's disk is full");
  });

  it("lets jobs start when the system does not report the free space", () => {
    space = new Error("ENOSYS");
    const looked = guard({ bytes: GIB, percent: 100 });
    expect([looked.obstacle(), looked.fullDiskHint()]).to.deep.equal(["", ""]);
  });

  it("measures a real disk", () => {
    const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
    const clock = { monotonic: () => 0 };
    const real = (percent: number) =>
      new DiskGuard({ folder: "/", floor: { bytes: Number.MAX_SAFE_INTEGER, percent }, clock, log });
    expect(real(0).obstacle()).to.equal("");
    expect(real(100).obstacle(), "no disk is quite empty").to.match(/^\d+ MiB of the agent's disk are free/);
  });
});
