/** The contract of the store of deliveries. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { DEFAULT_TENANT, newId, type ProjectId, type RunId } from "../../src/domain/ids.ts";
import type { RunEvent } from "../../src/domain/events.ts";
import { deliveryIdOf } from "../../src/app/webhooks/webhook-rules.ts";
import type { AggregateSave } from "../../src/stores/ports/aggregates.ts";
import type { Delivery, DeliveryTry } from "../../src/stores/ports/deliveries.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { sampleAggregate, saveOf } from "./samples.ts";

const TRY: DeliveryTry = {
  at: 3,
  durationMs: 4,
  status: null,
  error: "no answer",
  request: { url: "https://a.example/", headers: { "webhook-id": "x" } },
  answer: "",
};

export function deliveryOf(lane: string, fields: Partial<Delivery> = {}): Delivery {
  const { runId = newId("run"), number = 1, createdAt = 10 } = fields;
  return {
    deliveryId: deliveryIdOf(lane, runId, String(number)),
    lane,
    tenantId: DEFAULT_TENANT,
    projectId: newId("prj"),
    runId,
    number,
    type: "svc.pipeline.started",
    body: '{"a":null}',
    state: "owed",
    createdAt,
    owedAt: createdAt,
    dueAt: createdAt,
    attempts: 0,
    failures: 0,
    tries: [],
    ...fields,
  };
}

export function deliveryStoreContract(open: () => Stores): void {
  describe("deliveries", () => {
    const ended = { state: "delivered", dueAt: 50, attempts: 1, failures: 0, tries: [TRY] } as const;

    /** A run of a project of its own, stored with one event. */
    async function storeRun() {
      const run = sampleAggregate();
      const projectId: ProjectId = newId("prj");
      const runId = run.head.rootId;
      const event = (number: number): RunEvent => ({
        runId,
        pipelineId: run.head.summary.pipelineId,
        number,
        timeMs: 5,
        object: "pipeline",
        lifecycle: "queued",
        jobId: null,
        stepRunId: null,
        status: "pending",
        data: {},
      });
      const head = { ...run.head, eventNumber: 1, summary: { ...run.head.summary, projectId } };
      const stored = { ...run, head };
      await open().aggregates.create(stored, { events: [event(1)] });
      return { runId, projectId, stored, event };
    }

    it("name the runs with stored events that are not told, until they are", async () => {
      const { aggregates, deliveries } = open();
      const { runId, projectId, stored, event } = await storeRun();
      const untold = () => deliveries.untold([projectId, newId("prj")], 10);
      expect(await untold()).to.deep.equal([
        { runId, projectId, told: 0, eventNumber: 1, settled: stored.head.settled, endedAt: null },
      ]);
      expect(await deliveries.untold([newId("prj")], 10)).to.deep.equal([]);
      const owed = deliveryOf("whk_1", { runId });
      await deliveries.tell([owed], [{ runId, told: 1 }]);
      expect(await untold()).to.deep.equal([]);
      expect(await deliveries.find(owed.deliveryId)).to.deep.equal(owed);
      const next: AggregateSave = { ...saveOf(stored, { eventNumber: 2 }), events: [event(2)] };
      expect(await aggregates.save(next)).to.equal("saved");
      expect((await untold()).map(({ told, eventNumber }) => [told, eventNumber])).to.deep.equal([[1, 2]]);
      await deliveries.tell([], [{ runId, told: 1 }]);
      expect(await untold(), "a late repeat").to.have.length(1);
      await deliveries.tell([], [{ runId, told: 2 }]);
      await deliveries.tell([], [{ runId, told: 1 }]);
      expect(await untold(), "what is told never falls").to.deep.equal([]);
    });

    it("stay as they are when they are told again", async () => {
      const { deliveries } = open();
      const owed = deliveryOf(newId("whk"));
      await deliveries.tell([owed], []);
      expect(await deliveries.record(owed, ended)).to.equal(true);
      await deliveries.tell([owed, deliveryOf(owed.lane, { runId: owed.runId, number: 2 })], []);
      expect(await deliveries.find(owed.deliveryId)).to.deep.equal({ ...owed, ...ended });
      expect(await deliveries.record(owed, ended), "a late try").to.equal(false);
    });

    it("are due in the order of their times, then by run and number, until they are delivered", async () => {
      const { deliveries } = open();
      const lane = newId("whk");
      const runId = newId("run");
      const all = [
        deliveryOf(lane, { runId, number: 2, createdAt: 9 }),
        deliveryOf(lane, { runId, number: 10, createdAt: 9 }),
      ];
      const late = deliveryOf(lane, { runId, number: 1, createdAt: 20 });
      await deliveries.tell([late, ...all.toReversed(), deliveryOf(newId("whk"))], []);
      expect(await deliveries.due(lane, 19, 10)).to.deep.equal(all);
      expect(await deliveries.due(lane, 19, 1)).to.deep.equal(all.slice(0, 1));
      expect(await deliveries.lanes(9)).to.include(lane);
      expect(await deliveries.lanes(8), "before any is due").not.to.include(lane);
      expect(await deliveries.firstOwed(lane, runId)).to.deep.equal(late);
      await deliveries.reschedule(lane, runId, 30);
      expect(await deliveries.due(lane, 29, 10)).to.deep.equal([]);
      expect((await deliveries.due(lane, 30, 10)).map(({ number }) => number)).to.deep.equal([1, 2, 10]);
      for (const one of [late, ...all]) await deliveries.record(one, ended);
      expect(await deliveries.lanes(100)).not.to.include(lane);
      expect(await deliveries.firstOwed(lane, runId)).to.equal(undefined);
    });

    it("are owed once more when someone asks for it", async () => {
      const { deliveries } = open();
      const owed = deliveryOf(newId("whk"));
      await deliveries.tell([owed], []);
      expect(await deliveries.owe(owed.deliveryId, 60), "while it is owed").to.equal(false);
      await deliveries.record(owed, { ...ended, state: "failed", failures: 3 });
      expect(await deliveries.owe(owed.deliveryId, 60)).to.equal(true);
      const again = { ...owed, owedAt: 60, dueAt: 60, attempts: 1, tries: [TRY] };
      expect(await deliveries.due(owed.lane, 60, 10)).to.deep.equal([again]);
      expect(await deliveries.record(again, { ...ended, attempts: 2 })).to.equal(true);
    });

    it("are listed from the newest on, by state and run", async () => {
      const { deliveries } = open();
      const lane = newId("whk");
      const all = [3, 2, 1].map((createdAt) => deliveryOf(lane, { createdAt }));
      await deliveries.tell(all, []);
      await deliveries.record(all[1]!, ended);
      const ids = async (...[filter, limit, after]: [Parameters<typeof deliveries.list>[1], number, Delivery?]) =>
        (await deliveries.list(lane, filter, limit, after && { at: after.createdAt, id: after.deliveryId })).map(
          ({ createdAt }) => createdAt,
        );
      expect(await ids({}, 2)).to.deep.equal([3, 2]);
      expect(await ids({}, 2, all[1])).to.deep.equal([1]);
      expect(await ids({ state: "owed" }, 5)).to.deep.equal([3, 1]);
      expect(await ids({ state: "owed" }, 5, all[0])).to.deep.equal([1]);
      expect(await ids({ runId: all[2]!.runId as RunId }, 5)).to.deep.equal([1]);
    });

    it("of commit statuses are listed by run, in the lanes that begin with a text", async () => {
      const { deliveries } = open();
      const runId = newId("run");
      const of = (lane: string, createdAt: number, more: Partial<Delivery> = {}) =>
        deliveryOf(lane, { runId, createdAt, ...more });
      const all = [of("status/run/p/1", 30), of("status/job/p/2", 20), of("status/run/p/1", 10, { number: 2 })];
      const others = [of("status/run/p/1", 25, { runId: newId("run") }), of("notification/p/1", 26), of("status0", 27)];
      await deliveries.tell([...all, ...others], []);
      const found = async (lanes: string, ...[filter, limit, after]: [{ state?: "owed" }?, number?, Delivery?]) =>
        (
          await deliveries.listOfRun(
            runId,
            lanes,
            filter ?? {},
            limit ?? 9,
            after && { at: after.createdAt, id: after.deliveryId },
          )
        ).map(({ createdAt }) => createdAt);
      expect(await deliveries.listOfRun(runId, "status/", {}, 9, undefined)).to.deep.equal(all);
      expect(await found("status/run/")).to.deep.equal([30, 10]);
      expect(await found("status/", {}, 1, all[0])).to.deep.equal([20]);
      await deliveries.record(all[0]!, ended);
      expect(await found("status/run/", { state: "owed" })).to.deep.equal([10]);
    });

    it("of notifications are listed by run and by project, in all their lanes, from the newest on", async () => {
      const { deliveries } = open();
      const [projectId, runId] = [newId("prj"), newId("run")];
      const of = (lane: string, createdAt: number, more: Partial<Delivery> = {}) =>
        deliveryOf(lane, { projectId, runId, createdAt, ...more });
      const lane = `notification/${projectId}/`;
      const all = [of(`${lane}b`, 30), of(`${lane}a`, 20), of(`${lane}a`, 10, { runId: newId("run") })];
      const others = [
        of("whk_1", 25),
        of("notifications", 26),
        of(`${lane}c`, 27, { runId: newId("run"), projectId: newId("prj") }),
      ];
      await deliveries.tell([...all, ...others], []);
      const found = async (...given: Parameters<typeof deliveries.listNotifications>) =>
        (await deliveries.listNotifications(...given)).map(({ createdAt }) => createdAt);
      expect(await deliveries.listNotifications({ runId }, {}, 10, undefined)).to.deep.equal(all.slice(0, 2));
      expect(await found({ projectId }, {}, 10, undefined)).to.deep.equal([30, 20, 10]);
      expect(await found({ projectId }, {}, 1, { at: 30, id: all[0]!.deliveryId })).to.deep.equal([20]);
      await deliveries.record(all[1]!, ended);
      expect(await found({ projectId }, { state: "delivered" }, 10, undefined)).to.deep.equal([20]);
      expect(await deliveries.drop({ deliveryId: all[1]!.deliveryId }, 1)).to.equal(1);
      expect(await found({ runId }, {}, 10, undefined)).to.deep.equal([30]);
    });

    it("are deleted when their time is over, and with their lane or project", async () => {
      const { deliveries } = open();
      const lane = newId("whk");
      const all = [1, 2, 3].map((createdAt) => deliveryOf(lane, { createdAt }));
      await deliveries.tell(all, []);
      await deliveries.record(all[0]!, { ...ended, dueAt: -50 });
      expect(await deliveries.prune(-50, 10), "what is owed stays").to.equal(1);
      expect(await deliveries.drop({ projectId: all[1]!.projectId }, 10)).to.equal(1);
      expect(await deliveries.drop({ lane }, 10)).to.equal(1);
      expect(await deliveries.drop({ lane }, 10)).to.equal(0);
    });
  });
}
