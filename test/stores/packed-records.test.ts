/** Packed events, plans and states: what is packed comes back, in both stores, and beside records of the form before. */
import { expect } from "chai";
import fc from "fast-check";
import { asId, newId, type PipelineId, type RunId } from "../../src/domain/ids.ts";
import type { RunEvent } from "../../src/domain/events.ts";
import { type EventRecord, eventsIn, readEvents, recordsOf } from "../../src/stores/format/packed-events.ts";
import { packPlan, unpackPlan } from "../../src/stores/format/packed-plans.ts";
import { packText, unpackText } from "../../src/stores/format/packed-text.ts";
import { jobSpecsOf, planOf } from "../support/plans.ts";

const runId: RunId = asId("run_1");
const text = fc.string({ unit: "binary" });
const data = fc.dictionary(
  text,
  fc.oneof(text, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
);

/** The events of a run, in the turns that made them. */
const turns = fc
  .array(
    fc.array(fc.record({ data, status: text, other: fc.option(text, { nil: undefined }) }), {
      minLength: 1,
      maxLength: 40,
    }),
    { maxLength: 5 },
  )
  .map((parts) => {
    let number = 0;
    return parts.map((part, at) => part.map((event) => eventOf(++number, { timeMs: at, ...event })));
  });

function eventOf(number: number, fields: object = {}): RunEvent {
  const event: RunEvent = {
    object: "step",
    lifecycle: "started",
    jobId: asId("job_1"),
    stepRunId: asId("step_1"),
    status: "running",
    data: {},
    runId,
    pipelineId: asId<PipelineId>("pl_1"),
    number,
    timeMs: 0,
    ...fields,
  };
  return JSON.parse(JSON.stringify(event)) as RunEvent;
}

/** A store of the records of one run. */
function recordStore() {
  const records = new Map<string, EventRecord>();
  return {
    add(events: readonly RunEvent[], packs: boolean): void {
      for (const record of recordsOf(events, packs)) {
        const key = `${record.first}-${record.number}`;
        if (!records.has(key)) records.set(key, record);
      }
    },
    read: (after: number, limit: number) =>
      readEvents({ runId, after, limit }, async (from, most) =>
        [...records.values()]
          .filter(({ number }) => number > from)
          .sort((a, b) => a.number - b.number)
          .slice(0, most),
      ),
    get size() {
      return records.size;
    },
  };
}

describe("packed records", () => {
  it("do not hold what the reader knows", () => {
    const json = JSON.stringify({ runId: newId("run"), jobId: newId("job") });
    const { runId: run, jobId } = JSON.parse(json) as Record<string, string>;
    expect((packText(json, [run!, jobId!]) as Uint8Array).length).to.be.below(packText(json).length - 30);
    expect(unpackText(packText(json, [run!, jobId!]), [run!, jobId!])).to.equal(json);
  });

  it("give any JSON back, whatever of it the reader knows", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.array(text, { maxLength: 3 }), (any, known) => {
        const json = JSON.stringify(any);
        const packed = packText(json, known);
        expect(packed).to.be.instanceOf(Uint8Array);
        expect(unpackText(packed, known)).to.equal(json);
      }),
    );
  });

  it("leave a long text as it is", () => {
    const long = "x".repeat(20_000);
    expect(unpackText(packText(long))).to.equal(long);
    expect(packText(long)).to.equal(long);
  });

  it("are refused with advice when a newer version has packed them, and when they are damaged", () => {
    const packed = packText("a text of some length, which is then cut off") as Uint8Array;
    expect(() => unpackText(packed.subarray(0, 8))).to.throw();
    packed[0] = 2;
    expect(() => unpackText(packed))
      .to.throw("upgrade this node")
      .that.includes({ reason: "unavailable" });
  });

  // A change of the dictionary makes every stored record unreadable.
  it("are read as the first version has packed them", () => {
    const stored = "AYPWxb4WHh5evoFBQUZGFsFBZiZmHoaWYRGBhkokpFeU9ILhjNpYAA==";
    expect(unpackText(Buffer.from(stored, "base64"))).to.equal(
      '["pl_01M8HHJMQRR228SR646H19VXQ1",{"object":"step","lifecycle":"completed","exitCode":0,"cause":"reported"}]',
    );
  });

  it("give any events of a run back, whatever was stored of them in the form before, and when a save repeats them", async () => {
    await fc.assert(
      fc.asyncProperty(
        turns,
        fc.array(fc.tuple(fc.nat(5), fc.nat(5), fc.boolean())),
        fc.nat(150),
        fc.integer({ min: 1, max: 60 }),
        async (all, repeats, after, limit) => {
          const store = recordStore();
          all.forEach((turn, at) => store.add(turn, at % 2 === 0 || repeats.length > 2));
          const records = store.size;
          for (const [first, count, packs] of repeats) store.add(all.slice(first, first + count).flat(), packs);
          const events = all.flat();
          expect(await store.read(0, 1_000)).to.deep.equal(events);
          expect(await store.read(after, limit)).to.deep.equal(events.slice(after, after + limit));
          if (repeats.length > 2 && repeats.every(([, , packs]) => packs)) expect(store.size).to.equal(records);
        },
      ),
      { numRuns: 50 },
    );
  });

  it("hold the events of one turn of one run, in the order of their numbers", () => {
    const other: RunId = asId("run_2");
    const events = [
      eventOf(2),
      eventOf(1),
      eventOf(3, { timeMs: 1 }),
      eventOf(5, { timeMs: 1 }),
      eventOf(6, { runId: other, timeMs: 1 }),
    ];
    const records = recordsOf(events, true);
    expect(records.map((record) => [record.runId, record.first, record.number])).to.deep.equal([
      [runId, 1, 2],
      [runId, 3, 3],
      [runId, 5, 5],
      [other, 6, 6],
    ]);
    expect(eventsIn(runId, records[0]!)).to.deep.equal([events[1], events[0]]);
    const many = Array.from({ length: 70 }, (_, at) => eventOf(at + 1));
    expect(recordsOf(many, true).map(({ number }) => number)).to.deep.equal([32, 64, 70]);
    const long = eventOf(1, { status: "x".repeat(20_000) });
    expect(recordsOf([long, eventOf(2)], true)).to.deep.equal(recordsOf([long, eventOf(2)], false));
  });

  it("hold a small plan with its jobs, and no large one", () => {
    const small = planOf([[{ steps: 2 }], [{ needs: [0] }]]);
    expect(unpackPlan(packPlan(small, jobSpecsOf(small))!)).to.deep.equal({ graph: small, jobs: jobSpecsOf(small) });
    const large = planOf([Array.from({ length: 9 }, () => ({ steps: 1 }))]);
    expect(packPlan(large, jobSpecsOf(large))).to.equal(undefined);
  });

  it("take a third of the bytes or less", () => {
    const id = () => newId("run");
    const turn = Array.from({ length: 4 }, (_, at) =>
      eventOf(at + 1, { data: { index: at, reason: "", agentId: id() } }),
    );
    const [packed] = recordsOf(turn, true);
    expect((packed!.body as Uint8Array).length).to.be.below(JSON.stringify(turn).length / 3);
  });
});
