import { expect } from "chai";
import { GROUP_AGGREGATE } from "../../../actors/group/aggregate.ts";
import type { GroupState, Seat } from "../../../actors/group/state.ts";
import type { JobState } from "../../../actors/job/state.ts";
import { shardOf } from "../../../queues/shard-map.ts";
import { GroupReconciler, reconcileGroups } from "../../../src/app/upkeep/group-reconciler.ts";
import { memberKey } from "../../../src/domain/groups.ts";
import { asId, groupIdOf, newId, type ProjectId, type RootId, type RunId } from "../../../src/domain/ids.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import { actorOf, sampleAggregate, saveOf, withIndex } from "../../contracts/samples.ts";
import { silentLog } from "../../support/kernel-ports.ts";
import { openTestSqlite } from "../../support/stores.ts";
import { until } from "../../support/until.ts";

const SHARDS = 4;
const GROUP_ID = groupIdOf(asId<ProjectId>("default"), "deploy");
const SHARD = shardOf(GROUP_ID, SHARDS);

describe("the group reconciler", () => {
  let stores: Stores;
  let close: () => Promise<void>;
  let wokenRoots: RootId[];
  let now: number;

  beforeEach(async () => {
    ({ stores, close } = await openTestSqlite());
    wokenRoots = [];
    now = 1_000_000;
  });
  afterEach(() => close());

  const ports = () => ({
    stores,
    log: silentLog,
    shards: SHARDS,
    clock: { now: () => now, monotonic: () => performance.now() },
    mailboxes: {
      send: ({ rootId }: { rootId: string }) => Promise.resolve(void wokenRoots.push(asId<RootId>(rootId))),
      sendAt: () => Promise.resolve(),
      close: () => Promise.resolve(),
    },
  });

  async function storeGroup(seats: readonly Pick<Seat, "key" | "held">[]): Promise<void> {
    const { head, actors } = GROUP_AGGREGATE.initial!(GROUP_ID, SHARD);
    const [actor] = actors;
    const members = seats.map((seat) => ({ ...seat, onConflict: "queue", enteredAt: 900_000, supersededBy: null }));
    const state = { ...(actor!.state as GroupState), state: "busy", seats: members };
    const busy = { ...head, final: false, settled: false };
    await stores.aggregates.create({ head: busy, actors: [{ ...actor!, state }] });
  }

  /** A live run whose only job is in the group, or has left it. */
  async function liveRun(isMember: boolean): Promise<RunId> {
    const aggregate = sampleAggregate();
    const job = actorOf(aggregate, "job");
    const place = isMember ? { groupId: GROUP_ID, name: "deploy", held: true } : null;
    await stores.aggregates.create(aggregate);
    await stores.aggregates.save(saveOf(aggregate, {}, [withIndex(job, {}, { ...(job.state as JobState), place })]));
    return aggregate.head.rootId;
  }

  async function endedRun(): Promise<RunId> {
    const aggregate = sampleAggregate();
    await stores.aggregates.create({ ...aggregate, head: { ...aggregate.head, final: true } });
    return aggregate.head.rootId;
  }

  const leaving = async () =>
    (await stores.inbox.pending(GROUP_ID)).map((command) => {
      expect(command.kind).to.equal("leave");
      return command.kind === "leave" ? memberKey(command.member) : "";
    });

  it("frees the places of members that have ended, and of runs that were never stored", async () => {
    const jobOf = (runId: RunId): string => memberKey({ runId, job: 0, cell: null });
    const [ended, left, neverStored, live] = [
      await endedRun(),
      await liveRun(false),
      newId("run"),
      await liveRun(true),
    ];
    const held = [ended, jobOf(left), neverStored, jobOf(live), live].map((key) => ({ key, held: true }));
    await storeGroup([...held, { key: await endedRun(), held: false }]);
    await reconcileGroups(ports(), [SHARD]);
    expect(await leaving()).to.have.members([ended, jobOf(left), neverStored]);
    expect(wokenRoots).to.deep.equal([GROUP_ID, GROUP_ID, GROUP_ID]);
    await reconcileGroups(ports(), [SHARD]);
    expect(await leaving(), "once").to.have.length(3);
  });

  it("keeps a place that a trigger took less than a minute ago, without its run", async () => {
    now = 930_000;
    await storeGroup([{ key: newId("run"), held: true }]);
    await reconcileGroups(ports(), [SHARD]);
    expect(await leaving()).to.deep.equal([]);
  });

  it("reconciles the shards that its worker owns, and no other shard", async () => {
    await storeGroup([{ key: await endedRun(), held: true }]);
    const other = (SHARD + 1) % SHARDS;
    await reconcileGroups(ports(), [other]);
    expect(await leaving()).to.deep.equal([]);
    const reconciler = new GroupReconciler(ports(), () => [SHARD]);
    reconciler.start();
    try {
      await until("the member leaves", async () => (await leaving()).length === 1);
    } finally {
      await reconciler.stop();
    }
  });
});
