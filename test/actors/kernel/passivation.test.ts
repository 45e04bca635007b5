/** How aggregates leave the memory of the kernel. */
import { expect } from "chai";
import { takeFirstTurn } from "../../../actors/kernel/first-turn.ts";
import { Kernel } from "../../../actors/kernel/kernel.ts";
import type { KernelTiming } from "../../../actors/kernel/kernel-context.ts";
import { aggregateTypeOf } from "../../../actors/aggregates.ts";
import { RUN_AGGREGATE } from "../../../actors/run/aggregate.ts";
import { createRunAggregate } from "../../../actors/run/create.ts";
import { systemClock } from "../../../src/domain/clock.ts";
import { asId, jobRunId, newId, type RunId } from "../../../src/domain/ids.ts";
import type { RunOrigin } from "../../../src/stores/ports/aggregates.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import { RecordingPorts, silentLog } from "../../support/kernel-ports.ts";
import { jobSpecsOf, planOf } from "../../support/plans.ts";
import { openTestSqlite } from "../../support/stores.ts";
import { until } from "../../support/until.ts";

const SHARD = 3;
const PLAN = planOf([[{}]]);
const ORIGIN: RunOrigin = {
  trigger: { kind: "manual", ref: "" },
  variables: [],
  triggeredBy: "test",
  actor: "test",
  revisionId: "rev",
  commitSha: "",
  attempt: 1,
  retryOf: null,
  firstRunId: null,
};

describe("passivation", () => {
  let stores: Stores;
  let close: () => Promise<void>;
  let ports: RecordingPorts;
  let kernel: Kernel | undefined;

  beforeEach(async () => {
    const opened = await openTestSqlite();
    close = () => opened.close();
    stores = opened.stores;
    ports = new RecordingPorts();
  });
  afterEach(async () => {
    await kernel?.stop();
    await close();
  });

  async function openKernel(timing: Partial<KernelTiming>): Promise<Kernel> {
    kernel = new Kernel({
      stores,
      feed: ports.feed,
      board: ports.board,
      mailboxes: ports.mailboxes,
      presence: {
        online: () => Promise.resolve([]),
        declareLost: () => Promise.resolve(),
        read: () => Promise.resolve(new Map()),
      },
      typeOf: aggregateTypeOf,
      shards: 16,
      clock: systemClock,
      log: silentLog,
      timing: { sweepMs: 20, ...timing },
    });
    await kernel.open(SHARD, 1);
    return kernel;
  }

  /** Stores a run as an edge does that dies before it performs what the first turn owes. */
  async function trigger(): Promise<RunId> {
    const runId = newId("run");
    const now = Date.now();
    const created = createRunAggregate({ runId, shard: SHARD, plan: PLAN, origin: ORIGIN, now });
    const first = takeFirstTurn(created, PLAN, now, RUN_AGGREGATE, () => []);
    await stores.aggregates.create(first, { plan: { graph: PLAN, jobs: jobSpecsOf(PLAN) } });
    return runId;
  }

  it("does not keep runs in memory that no agent takes, although none has been idle for long", async () => {
    const { counters } = await openKernel({ creatorMs: 50, passivateMs: 3_600_000 });
    const waiting = await Promise.all(Array.from({ length: 150 }, () => trigger()));
    await until("all are offered", () => waiting.every((runId) => ports.offers.has(jobRunId(runId, 0, 1))));
    await until("none is in memory", () => counters.activations === 0);
    const heads = await Promise.all(waiting.map((runId) => stores.aggregates.loadHead(runId)));
    expect(heads.flatMap((head) => head!.owed)).to.deep.equal([]);
  });

  it("passivates many aggregates at once, and sweeps meanwhile", async () => {
    const opened = await openKernel({ passivateMs: 40, creatorMs: 0 });
    const waiting = await Promise.all(Array.from({ length: 20 }, () => trigger()));
    let saving = 0;
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const save = stores.aggregates.save.bind(stores.aggregates);
    stores.aggregates.save = async (changes) => {
      // A save that changes no actor is that of a passivation.
      if (changes.changed.length > 0) return save(changes);
      saving++;
      await released;
      return save(changes);
    };
    await Promise.all(waiting.map((rootId) => opened.receive(SHARD, [{ rootId, to: null, message: null }])));
    await until("all are being passivated", () => saving === waiting.length);
    const late = await trigger();
    const id = newId("cmd");
    const by = { reason: "", operator: "test", actor: "test", storedAt: 0 };
    await stores.inbox.insert({ ...by, id, rootId: late, shard: SHARD, kind: "stop" });
    await until("a sweep takes the command", async () => (await stores.inbox.verdict(asId(id))) !== undefined);
    release();
    await until("all have left the memory", () => opened.counters.activations === 0);
  });
});
