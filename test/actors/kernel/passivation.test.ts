/** How aggregates leave the memory of the kernel. */
import { expect } from "chai";
import type { Kernel } from "../../../actors/kernel/kernel.ts";
import type { KernelTiming } from "../../../actors/kernel/kernel-context.ts";
import { asId, jobRunId, type RunId } from "../../../src/domain/ids.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import type { RecordingPorts } from "../../support/kernel-ports.ts";
import { doorbell, KERNEL_SHARD as SHARD, KernelWorld } from "../../support/kernel-world.ts";
import { planOf } from "../../support/plans.ts";
import { until } from "../../support/until.ts";

describe("passivation", () => {
  let world: KernelWorld;
  let stores: Stores;
  let ports: RecordingPorts;

  beforeEach(async () => {
    world = await KernelWorld.open();
    ({ stores, ports } = world);
  });
  afterEach(() => world.close());

  async function openKernel(timing: Partial<KernelTiming>): Promise<Kernel> {
    const kernel = world.kernel({ sweepMs: 20, ...timing });
    await kernel.open(SHARD, 1);
    return kernel;
  }

  /** Stores a run as an edge does that dies before it performs what the first turn owes. */
  const trigger = (): Promise<RunId> => world.triggerBegun(planOf([[{}]]));

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
    await Promise.all(waiting.map((rootId) => opened.receive(SHARD, [doorbell(rootId)])));
    await until("all are being passivated", () => saving === waiting.length);
    const late = await trigger();
    const id = await world.command(late, "stop");
    await until("a sweep takes the command", async () => (await stores.inbox.verdict(asId(id))) !== undefined);
    release();
    await until("all have left the memory", () => opened.counters.activations === 0);
  });
});
