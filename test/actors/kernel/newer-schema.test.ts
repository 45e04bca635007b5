import { expect } from "chai";
import { Kernel } from "../../../actors/kernel/kernel.ts";
import { aggregateTypeOf } from "../../../actors/aggregates.ts";
import { createRunAggregate } from "../../../actors/run/create.ts";
import { systemClock } from "../../../src/domain/clock.ts";
import { jobRunId, newId, type RunId } from "../../../src/domain/ids.ts";
import { STORED_FORMAT, type StoredFormat } from "../../../src/stores/format/stored-format.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import { versionedAggregates, versionedPlans } from "../../../src/stores/format/versioned-stores.ts";
import { sampleAggregate } from "../../contracts/samples.ts";
import { RecordingPorts, silentLog } from "../../support/kernel-ports.ts";
import { NEXT_FORMAT } from "../../support/next-format.ts";
import { jobSpecsOf, planOf } from "../../support/plans.ts";
import { openTestSqlite } from "../../support/stores.ts";
import { until } from "../../support/until.ts";

const SHARD = 3;
/** More than a page of a sweep, and far more than may be parked. */
const NEWER = 250;
const TIMING = { sweepMs: 20, parkMinMs: 5, parkMaxMs: 20, parkedMax: 5 };
const PLAN = planOf([[{}]]);

describe("the kernel of an old node, in a shard with aggregates of a newer version", () => {
  let raw: Stores;
  let close: () => Promise<void>;
  let ports: RecordingPorts;
  let kernels: Kernel[];
  let alarms: string[];
  /** How often each run was loaded by the old node. */
  let loads: Map<string, number>;

  beforeEach(async () => {
    const opened = await openTestSqlite();
    close = () => opened.close();
    raw = opened.stores;
    ports = new RecordingPorts();
    kernels = [];
    alarms = [];
    loads = new Map();
  });

  afterEach(async () => {
    for (const kernel of kernels) await kernel.stop();
    await close();
  });

  function storesOf(format: StoredFormat): Stores {
    const writes = () => format.schema;
    return {
      ...raw,
      aggregates: versionedAggregates(raw.aggregates, format, writes),
      plans: versionedPlans(raw.plans, format, writes),
    };
  }

  async function trigger(format: StoredFormat): Promise<RunId> {
    const { aggregates, plans } = storesOf(format);
    const runId = newId("run");
    const { origin } = sampleAggregate().head;
    await plans.put(runId, PLAN, jobSpecsOf(PLAN));
    await aggregates.create(createRunAggregate({ runId, shard: SHARD, plan: PLAN, origin, now: Date.now() }));
    return runId;
  }

  function kernelOf(format: StoredFormat): Kernel {
    const stores = storesOf(format);
    const aggregates: Stores["aggregates"] = {
      ...stores.aggregates,
      load(rootId) {
        if (format === STORED_FORMAT) loads.set(rootId, (loads.get(rootId) ?? 0) + 1);
        return stores.aggregates.load(rootId);
      },
    };
    const kernel = new Kernel({
      stores: { ...stores, aggregates },
      feed: ports.feed,
      board: ports.board,
      mailboxes: ports.mailboxes,
      presence: {
        read: () => Promise.resolve(new Map()),
        online: () => Promise.resolve([]),
        declareLost: () => Promise.resolve(),
      },
      typeOf: aggregateTypeOf,
      shards: 16,
      clock: systemClock,
      log: { ...silentLog, error: (fields) => void alarms.push(String(fields["runId"])) },
      timing: TIMING,
    });
    kernels.push(kernel);
    return kernel;
  }

  const claim = (runId: RunId) => ({
    rootId: runId,
    to: { kind: "job", id: jobRunId(runId, 0, 1) },
    message: { type: "claimRequested", agentId: newId("agt"), bootId: "boot", requestId: "r1" },
  });
  const isOffered = (runId: RunId) => ports.offers.has(jobRunId(runId, 0, 1));

  it("serves the others, tries each newer one once, and leaves them to a newer node", async () => {
    const newer: RunId[] = [];
    for (let at = 0; at < NEWER; at++) newer.push(await trigger(NEXT_FORMAT));
    const readable = await trigger(STORED_FORMAT);
    const old = kernelOf(STORED_FORMAT);
    await old.open(SHARD, 1);

    // No envelope comes: the sweep finds the run behind all the others in the list of due timers.
    await until("the readable run begins", () => isOffered(readable));
    expect(old.counters).to.include({ unreadable: NEWER, parked: 0, faults: 0 });
    await old.receive(SHARD, newer.slice(0, 20).map(claim));
    const told = old.redisLost(SHARD).then(() => "told everything", String);
    const second = await trigger(STORED_FORMAT);
    await until("sweeps go on", () => isOffered(second));
    expect(alarms.toSorted(), "one alarm for each").to.deep.equal(newer);
    expect(newer.every((runId) => loads.get(runId) === 1)).to.equal(true);
    expect(newer.some(isOffered)).to.equal(false);

    old.close(SHARD, 1);
    expect(old.counters).to.include({ unreadable: 0, activations: 0 });
    expect(await told, "the next owner tells the rest").to.match(/closed before/);
    await kernelOf(NEXT_FORMAT).open(SHARD, 1);
    await until("the newer node offers their jobs", () => newer.every(isOffered));
  });
});
