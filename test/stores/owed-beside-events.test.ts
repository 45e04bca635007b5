/** What a store that writes snapshot and events in one transaction keeps as owed. */
import { expect } from "chai";
import { eventsOf } from "../../actors/kernel/performer.ts";
import { versionedStores } from "../../src/node/stores.ts";
import type { OwedEffect } from "../../src/domain/effects.ts";
import type { PublishedEvent } from "../../src/domain/event-table/run-events.ts";
import { asId, newId, type RunId } from "../../src/domain/ids.ts";
import { STORED_FORMAT } from "../../src/stores/format/stored-format.ts";
import type { Aggregate, AggregateHead, OwedRecord } from "../../src/stores/ports/aggregates.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { sampleAggregate, saveOf } from "../contracts/samples.ts";
import { openTestSqlite } from "../support/stores.ts";

describe("what SQLite keeps as owed beside the events that it stores", () => {
  let opened: Awaited<ReturnType<typeof openTestSqlite>>;
  let stores: Stores;

  before(async () => {
    opened = await openTestSqlite();
    stores = versionedStores(opened.stores, STORED_FORMAT, () => STORED_FORMAT.schema);
  });
  after(() => opened.close());

  const typesOf = async (runId: RunId) =>
    (await stores.aggregates.load(runId))!.head.owed.map(({ effect }) =>
      effect.type === "publish" ? `publish ${effect.event.object}` : effect.type,
    );
  const stored = async (runId: RunId) => (await stores.events.read(runId, 0, 10)).map(({ number }) => number);

  it("leaves the publishing of a created run to the report of the step that it dispatches", async () => {
    const run = runOwing([publish("pipeline"), publish("approval"), publish("step"), dispatch()]);
    const { rootId } = run.head;
    await stores.aggregates.create(run, { events: eventsOf(run.head, run.head.owed) });
    expect(await typesOf(rootId)).to.deep.equal(["publish approval", "dispatch"]);
    expect(await stored(rootId)).to.deep.equal([1, 2, 3]);
  });

  it("leaves that of a later save too, if it dispatches a step", async () => {
    const run = runOwing([]);
    const { rootId } = run.head;
    await stores.aggregates.create(run);
    const save = async (version: number, owed: readonly OwedRecord[]) => {
      const before = { head: { ...run.head, version: version - 1 } };
      const save = saveOf(before, { owed, eventNumber: version });
      const saved = await stores.aggregates.save({ ...save, events: eventsOf(save.head as AggregateHead, owed) });
      expect(saved).to.equal("saved");
    };
    await save(2, recordsOf([publish("step"), dispatch()]));
    expect(await typesOf(rootId)).to.deep.equal(["dispatch"]);
    // No report of this dispatch may come any more.
    const [left] = recordsOf([dispatch()]);
    await save(3, [{ ...left!, leftToCreator: true }, ...recordsOf([publish("step")], 2)]);
    expect(await typesOf(rootId)).to.deep.equal(["dispatch", "publish step"]);
    await save(4, recordsOf([publish("step")], 3));
    expect(await typesOf(rootId)).to.deep.equal(["publish step"]);
  });

  it("leaves nothing of a run that is so large that its events are stored after it", async () => {
    const { head, actors } = runOwing([publish("pipeline"), dispatch()]);
    const [first] = actors;
    const many = Array.from({ length: 1_001 }, (_, at) => ({
      ...first!,
      id: newId("step"),
      index: { ...first!.index, position: at },
    }));
    await stores.aggregates.create({ head, actors: many }, { events: eventsOf(head, head.owed) });
    expect(await typesOf(head.rootId)).to.deep.equal(["publish pipeline", "dispatch"]);
  });
});

function runOwing(effects: readonly OwedEffect[]): Aggregate {
  const { head, actors } = sampleAggregate();
  const owed = recordsOf(effects);
  return { head: { ...head, version: 1, owed, eventNumber: owed.length }, actors };
}

function recordsOf(effects: readonly OwedEffect[], from = 0): readonly OwedRecord[] {
  let number = from;
  return effects.map((effect) => ({ effect, eventNumber: effect.type === "publish" ? ++number : null, at: 1 }));
}

function publish(object: "pipeline" | "approval" | "step"): OwedEffect {
  const event = { object, lifecycle: "started", jobId: null, stepRunId: null, status: "running", data: {} };
  return { type: "publish", event: event as unknown as PublishedEvent };
}

function dispatch(): OwedEffect {
  return {
    type: "dispatch",
    order: {
      agentId: asId("agt_1"),
      bootId: "boot",
      requestId: "r1",
      token: 1,
      runId: newId("run"),
      jobId: newId("job"),
      jobIndex: 0,
      jobAttempt: 1,
      stepRunId: newId("step"),
      stepIndex: 0,
    },
  };
}
