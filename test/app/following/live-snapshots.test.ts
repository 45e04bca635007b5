import { expect } from "chai";
import { LiveSnapshots, type SnapshotBounds } from "../../../src/app/following/live-snapshots.ts";
import { LargeReads } from "../../../src/app/large-reads.ts";
import type { Caller } from "../../../src/app/identity/access.ts";
import { asId, type UserId } from "../../../src/domain/ids.ts";
import { silentLog } from "../../support/kernel-ports.ts";
import { planOf } from "../../support/plans.ts";
import { type StoredRun, storeRun } from "../../support/stored-runs.ts";
import { openTestSqlite } from "../../support/stores.ts";
import { until } from "../../support/until.ts";

const callerOf = (name: string): Caller => ({
  kind: "user",
  userId: asId<UserId>(`usr_${name}`),
  name,
  role: "owner",
  scopes: [],
});

describe("snapshots of runs in the hands of readers", function () {
  this.timeout(30_000);
  let sqlite: Awaited<ReturnType<typeof openTestSqlite>>;
  let now: number;
  let large: StoredRun;
  let small: StoredRun;
  before(async () => {
    sqlite = await openTestSqlite();
    large = await storeRun(context(), planOf([Array.from({ length: 100 }, () => ({ steps: 50 }))]));
    small = await storeRun(context(), planOf([[{}]]));
  });
  after(() => sqlite.close());
  beforeEach(() => (now = 0));

  const context = () =>
    ({
      stores: sqlite.stores,
      largeReads: new LargeReads(),
      clock: { now: () => Date.now(), monotonic: () => now },
      log: silentLog,
      presence: { online: () => Promise.resolve([]) },
    }) as never;
  const open = (bounds: Partial<SnapshotBounds> = {}) => new LiveSnapshots(context(), bounds);
  async function take(snapshots: LiveSnapshots, run: StoredRun, caller = "ann") {
    const reader = new AbortController();
    const snapshot = await snapshots.take(callerOf(caller), run.runId, reader.signal);
    return { snapshot, leave: () => reader.abort() };
  }

  it("are one for all readers of a run of 5,000 steps, who read it slowly", async () => {
    const snapshots = open();
    const readers = await Promise.all(Array.from({ length: 20 }, (_, at) => take(snapshots, large, `user-${at % 7}`)));
    now = 1_000;
    readers.push(await take(snapshots, large, "late"));
    const { chars, jobs } = readers[0]!.snapshot;
    expect(
      JSON.parse(`[${jobs.join()}]`)
        .flat(1)
        .flatMap(({ steps }: { steps: [] }) => steps),
    ).to.have.length(5_000);
    expect(new Set(readers.map(({ snapshot }) => snapshot)).size).to.equal(1);
    expect(snapshots.chars).to.equal(chars).and.to.be.below(8_000_000);
    for (const { leave } of readers) leave();
    expect(snapshots.chars).to.equal(0);
  });

  it("are made again for later readers, but never more than two for a run", async () => {
    const snapshots = open();
    const first = await take(snapshots, large);
    now = 2_000;
    const second = await take(snapshots, large);
    expect(second.snapshot).to.not.equal(first.snapshot);
    now = 60_000;
    const third = await take(snapshots, large);
    expect(third.snapshot).to.equal(second.snapshot);
    expect(snapshots.chars).to.equal(first.snapshot.chars + second.snapshot.chars);
    first.leave();
    const fourth = await take(snapshots, large);
    expect(fourth.snapshot).to.not.equal(second.snapshot);
    for (const { leave } of [second, third, fourth]) leave();
    expect(snapshots.chars).to.equal(0);
  });

  it("of a small run are not shared, because each caller sees other jobs beside it", async () => {
    const snapshots = open();
    const readers = [await take(snapshots, small, "ann"), await take(snapshots, small, "bob")];
    expect(readers[0]!.snapshot).to.not.equal(readers[1]!.snapshot);
    expect(snapshots.chars).to.equal(readers[0]!.snapshot.chars + readers[1]!.snapshot.chars);
  });

  it("wait for room, and are refused when there is none for long", async () => {
    const snapshots = open({ chars: 1, waitMs: 0 });
    const first = await take(snapshots, small);
    expect(await take(snapshots, small, "bob").catch(({ reason }) => reason)).to.equal("too_many");
    const patient = open({ chars: 1 });
    const holder = await take(patient, small);
    let isTaken = false;
    const waiting = take(patient, small, "bob").then((reader) => ((isTaken = true), reader));
    await until("a turn", () => true);
    expect(isTaken).to.equal(false);
    holder.leave();
    (await waiting).leave();
    first.leave();
    await take(snapshots, small, "bob");
  });

  it("of one caller are bounded for this caller alone", async () => {
    const snapshots = open({ charsOfCaller: 1, waitMs: 0 });
    await take(snapshots, small);
    expect(await take(snapshots, small).catch(({ reason }) => reason)).to.equal("too_many");
    await take(snapshots, small, "bob");
  });

  it("are not held for a reader who has gone meanwhile", async () => {
    const snapshots = open();
    const gone = new AbortController();
    const taking = snapshots.take(callerOf("ann"), large.runId, gone.signal).catch((error: Error) => error.name);
    gone.abort();
    expect(await taking).to.equal("AbortError");
    expect(snapshots.chars).to.equal(0);
  });
});
