/** The contract of the store of agent events. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import type { AgentEvent } from "../../src/stores/ports/agent-events.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

const PAGE = { page: 1, pageSize: 100, descending: false };

export function agentEventStoreContract(open: () => Stores): void {
  describe("agent events", () => {
    const sample = (fields: Partial<AgentEvent> = {}): AgentEvent => ({
      agentId: newId("agt"),
      eventId: "e1",
      runId: newId("run"),
      stepRunId: newId("step"),
      type: "svc.step.progress",
      subject: "",
      time: 1,
      receivedAt: 10,
      data: '{"$set":{"a.b":1}}',
      ...fields,
    });

    it("are stored once for each agent and id, and a repeat does not change them", async () => {
      const { agentEvents } = open();
      const one = sample();
      const namesake = sample({ runId: one.runId, agentId: newId("agt"), receivedAt: 11 });
      await agentEvents.append([one, namesake]);
      await agentEvents.append([{ ...one, data: "{}" }, sample({ ...one, eventId: "e2", receivedAt: 12 })]);
      const { list, total } = await agentEvents.list(one.runId!, PAGE);
      expect(total).to.equal(3);
      expect(list).to.deep.equal([one, namesake, { ...one, eventId: "e2", receivedAt: 12 }]);
      await agentEvents.append([]);
    });

    it("are found by agent and id, with any characters in an id", async () => {
      const { agentEvents } = open();
      const ids = ["1", "a/b", "$where", "größe 🚂", "x".repeat(128)];
      const one = sample();
      await agentEvents.append(ids.map((eventId) => ({ ...one, eventId })));
      expect(await agentEvents.storedIds(one.agentId, [...ids, "unknown"])).to.deep.equal(new Set(ids));
      expect(await agentEvents.storedIds(newId("agt"), ids)).to.deep.equal(new Set());
      const many = Array.from({ length: 1_000 }, (_, at) => `m${at}`);
      await agentEvents.append(many.map((eventId) => ({ ...one, eventId })));
      expect((await agentEvents.storedIds(one.agentId, many)).size).to.equal(1_000);
    });

    it("are counted and listed by run, and by agent when they belong to no run", async () => {
      const { agentEvents } = open();
      const one = sample();
      const own = { ...one, runId: null, stepRunId: null };
      const ofRun = [3, 1, 2].map((at) => ({ ...one, eventId: `r${at}`, receivedAt: at }));
      await agentEvents.append([...ofRun, { ...own, eventId: "a1" }]);
      expect(await agentEvents.count(one.runId!)).to.equal(3);
      expect(await agentEvents.count(one.agentId)).to.equal(1);
      expect(await agentEvents.count(newId("run"))).to.equal(0);
      const ids = async (page: number, descending = false) => {
        const found = await agentEvents.list(one.runId!, { page, pageSize: 2, descending });
        return [found.total, ...found.list.map(({ eventId }) => eventId)];
      };
      expect(await ids(1)).to.deep.equal([3, "r1", "r2"]);
      expect(await ids(2)).to.deep.equal([3, "r3"]);
      expect(await ids(1, true)).to.deep.equal([3, "r3", "r2"]);
      expect((await agentEvents.list(one.agentId, PAGE)).list).to.deep.equal([{ ...own, eventId: "a1" }]);
    });
  });
}
