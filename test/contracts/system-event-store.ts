/** The contract of the logs of system events. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import type { SystemEventDraft } from "../../src/domain/system-events.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

export function systemEventStoreContract(open: () => Stores): void {
  describe("the logs of system events", () => {
    let made = 0;
    const draftOf = (fields: Partial<SystemEventDraft> = {}): SystemEventDraft => ({
      log: newId("tnt"),
      eventId: `e/${++made}`,
      object: "agent",
      lifecycle: "online",
      timeMs: 1_000,
      data: { id: "agt_1", name: "one", report: { $set: { "a.b": 1 } } },
      ...fields,
    });
    const numbersOf = (events: readonly { readonly number: number }[]) => events.map(({ number }) => number);

    it("number the events of each log from 1, and take a repeat for the event that is there", async () => {
      const { systemEvents } = open();
      const [one, other] = [draftOf(), draftOf()];
      const { log } = one;
      expect(await systemEvents.newest(log)).to.equal(0);
      const stored = await systemEvents.append([one, other, draftOf({ log })]);
      expect(numbersOf(stored)).to.deep.equal([1, 1, 2]);
      const repeated = await systemEvents.append([{ ...one, lifecycle: "offline" }, draftOf({ log })]);
      expect(repeated[0]).to.deep.equal({ ...one, number: 1 });
      expect(numbersOf(repeated)).to.deep.equal([1, 3]);
      // The same id in another log is another event.
      expect(numbersOf(await systemEvents.append([{ ...one, log: other.log }]))).to.deep.equal([2]);
      expect(await systemEvents.newest(log)).to.equal(3);
      expect((await systemEvents.read(log, 0, 1))[0]).to.deep.equal({ ...one, number: 1 });
      expect(numbersOf(await systemEvents.read(log, 1, 10))).to.deep.equal([2, 3]);
      expect(await systemEvents.read(log, 3, 10)).to.deep.equal([]);
    });

    it("have no gap and no number twice when many are appended at once, some of them twice", async () => {
      const { systemEvents } = open();
      const log = newId("tnt");
      const drafts = Array.from({ length: 10 }, () => draftOf({ log }));
      const stored = await Promise.all([...drafts, ...drafts.slice(0, 5)].map((one) => systemEvents.append([one])));
      const read = await systemEvents.read(log, 0, 100);
      expect(numbersOf(read)).to.deep.equal(drafts.map((_, at) => at + 1));
      expect(new Set(read.map(({ eventId }) => eventId)).size).to.equal(10);
      for (const [event] of stored) expect(read[event!.number - 1]).to.deep.equal(event);
    });

    it("forget their beginning by age, a bounded number at once, and never the newest event", async () => {
      const { systemEvents } = open();
      const log = newId("tnt");
      const times = [10, 30, 20, 40, 50];
      await systemEvents.append(times.map((timeMs) => draftOf({ log, timeMs })));
      expect(await systemEvents.forget(log, 25, 10)).to.equal(1);
      expect(numbersOf(await systemEvents.read(log, 0, 10)), "no gap inside").to.deep.equal([2, 3, 4, 5]);
      expect(await systemEvents.forget(log, 45, 2)).to.equal(2);
      expect(await systemEvents.forget(log, 1_000, 10)).to.equal(1);
      expect(await systemEvents.forget(log, 1_000, 10)).to.equal(0);
      expect(numbersOf(await systemEvents.append([draftOf({ log })]))).to.deep.equal([6]);
    });

    it("are listed by name, and dropped as a whole", async () => {
      const { systemEvents } = open();
      const logs = [newId("tnt"), newId("tnt")].toSorted();
      await systemEvents.append(logs.flatMap((log) => [draftOf({ log }), draftOf({ log })]));
      expect(await systemEvents.nextLog(logs[0]!)).to.equal(logs[1]);
      expect(await systemEvents.drop(logs[0]!, 1)).to.equal(1);
      expect(await systemEvents.drop(logs[0]!, 10)).to.equal(1);
      expect(await systemEvents.newest(logs[0]!)).to.equal(0);
      expect(await systemEvents.newest(logs[1]!)).to.equal(2);
    });
  });
}
