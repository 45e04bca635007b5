import { expect } from "chai";
import { Kernel } from "../../../actors/kernel/kernel.ts";
import { aggregateTypeOf } from "../../../actors/aggregates.ts";
import { systemClock } from "../../../src/domain/clock.ts";
import { jobRunId, newId } from "../../../src/domain/ids.ts";
import { sampleAggregate } from "../../contracts/samples.ts";
import { RecordingPorts, silentLog } from "../../support/kernel-ports.ts";
import { jobSpecsOf, planOf } from "../../support/plans.ts";
import { openTestSqlite } from "../../support/stores.ts";
import { until } from "../../support/until.ts";

const PLAN = planOf([[{}]]);

describe("the hook for saved turns", () => {
  it("is called once for each change, although the next owner performs its effects again", async () => {
    const { stores, close } = await openTestSqlite();
    const ports = new RecordingPorts();
    const heard: string[] = [];
    const newKernel = () =>
      new Kernel({
        stores,
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
        log: silentLog,
        timing: { sweepMs: 20, parkMinMs: 5, parkMaxMs: 20 },
        onTurnSaved: (changed, before) => {
          for (const { id, kind, state } of changed) {
            const was = before.get(id)!.state;
            heard.push(`${kind}: ${stateOf(was)} to ${stateOf(state)}`);
          }
        },
      });
    const kernels = [newKernel()];
    try {
      const aggregate = sampleAggregate({ plan: PLAN });
      const { rootId, shard } = aggregate.head;
      await stores.plans.put(rootId, PLAN, jobSpecsOf(PLAN));
      await stores.aggregates.create(aggregate);

      ports.outage = true;
      await kernels[0]!.open(shard, 1);
      await until("the start of the run is saved", () => heard.length > 0);
      await until("it waits for Redis", () => kernels[0]!.counters.parked === 1);
      await kernels[0]!.stop();
      ports.outage = false;
      kernels.push(newKernel());
      await kernels[1]!.open(shard, 1);
      const jobId = jobRunId(rootId, 0, 1);
      await until("the next owner has offered the job", () => ports.offers.has(jobId));
      const begun = ["run: pending to running", "job: pending to queued"];
      expect(heard).to.deep.equal(begun);

      const claim = { type: "claimRequested", agentId: newId("agt"), bootId: "boot", requestId: "r" };
      const message = { rootId, to: { kind: "job", id: jobId }, message: claim };
      await kernels[1]!.receive(shard, [message, message]);
      await until("the grant is dispatched", () => ports.notices("dispatch").length > 0);
      expect(heard).to.deep.equal([...begun, "job: queued to running", "step: pending to queued"]);
    } finally {
      for (const kernel of kernels) await kernel.stop();
      await close();
    }
  });
});

const stateOf = (actor: unknown): string => (actor as { readonly state: string }).state;
