import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { DiskReserve } from "../../src/stores/sqlite/disk-reserve.ts";

const MIB = 2 ** 20;
const TOTAL = 100 * MIB;

describe("the reserve of a disk", () => {
  let folder: string;
  let free: number;
  const logged: string[] = [];
  const add = (_: object, message: string) => void logged.push(message);
  const changes: boolean[] = [];
  let reserve: DiskReserve;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-reserve-"));
    free = 50 * MIB;
    logged.length = 0;
    changes.length = 0;
    const measure = () => ({ free, total: TOTAL });
    reserve = new DiskReserve({ folder, log: { info: add, warn: add }, measure });
    reserve.onChange((isFull) => void changes.push(isFull));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const blocks = () =>
    stat(join(folder, "reserve")).then(
      ({ blocks: count }) => count * 512,
      () => 0,
    );

  it("takes its share of the disk, is given up when the disk is full, and is made again once there is room", async () => {
    reserve.look();
    expect(await blocks()).to.be.at.least(5 * MIB);
    expect(reserve.refusal()).to.equal(undefined);

    free = MIB;
    reserve.look();
    expect(await blocks()).to.equal(0);
    free = 6 * MIB;
    reserve.look();
    expect(reserve.refusal()?.message).to.match(
      /^the disk of \S+ is full \(6 MiB free\): nothing new is stored until 7\.5 MiB are free, .*free disk space/,
    );

    free = 8 * MIB;
    reserve.look();
    expect(await blocks()).to.be.at.least(5 * MIB);
    expect(reserve.refusal()).to.equal(undefined);
    expect(changes).to.deep.equal([true, false]);
    expect(logged).to.have.length(2);
  });

  it("is given up once when a file cannot grow", async () => {
    reserve.look();
    expect(reserve.giveUp(), "the disk has room: the file has a limit of its own").to.equal(false);
    free = 2 * MIB;
    expect([reserve.giveUp(), reserve.giveUp()]).to.deep.equal([true, false]);
    expect(await blocks()).to.equal(0);
  });

  it("lets nothing start without the least room, and says what to do", () => {
    free = MIB / 2;
    expect(() => reserve.requireLeast()).to.throw(/is full \(0\.5 MiB free\): free disk space, at least 1 MiB/);
  });
});
