/** The contract of the store of agent events. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import type { RunEvent } from "../../src/domain/events.ts";
import type { AgentEvent, EventPlace } from "../../src/stores/ports/agent-events.ts";
import { isLastPage } from "../../src/stores/ports/events.ts";
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

    it("of a step run are numbered in their order, each once, and read by their numbers", async () => {
      const { agentEvents } = open();
      const [agentId, stepRunId] = [newId("agt"), newId("step")];
      const of = (...ids: string[]) => ids.map((eventId) => sample({ agentId, stepRunId, eventId }));
      const sequences = (places: ReadonlyMap<string, EventPlace>) =>
        [...places].map(([id, { sequence }]) => `${id} ${sequence}`).toSorted();
      await agentEvents.append([sample({ agentId, eventId: "own", runId: null, stepRunId: null })]);
      await agentEvents.appendToStep([sample({ agentId, eventId: "other" })]);
      expect(sequences(await agentEvents.appendToStep(of("b", "a")))).to.deep.equal(["a 2", "b 1"]);
      expect(sequences(await agentEvents.appendToStep(of("c", "a", "c", "d")))).to.deep.equal(["a 2", "c 3", "d 4"]);
      const places = await agentEvents.placesOf(agentId, ["own", "a", "other", "unknown"]);
      expect(places.size).to.equal(3);
      expect(places.get("own")).to.deep.equal({ stepRunId: null, sequence: null });
      expect(places.get("a")).to.deep.equal({ stepRunId, sequence: 2 });
      const read = await agentEvents.ofStep(stepRunId, 2, 3);
      expect(read.map(({ eventId, sequence }) => `${eventId} ${sequence}`)).to.deep.equal(["a 2", "c 3"]);
      expect(read[0]).to.deep.equal({ ...of("a")[0], runId: read[0]!.runId, sequence: 2 });
      expect(await agentEvents.appendToStep([])).to.deep.equal(new Map());
    });

    it("of a step run have no gap when several gateways store them at once, and after some were dropped", async () => {
      const { agentEvents } = open();
      const [agentId, stepRunId] = [newId("agt"), newId("step")];
      const of = (from: number) =>
        Array.from({ length: 20 }, (_, at) => sample({ agentId, stepRunId, eventId: `e${from + at}` }));
      await Promise.all([0, 10, 20, 0].map((from) => agentEvents.appendToStep(of(from))));
      const all = await agentEvents.ofStep(stepRunId, 1, 1_000);
      expect(all.map(({ sequence }) => sequence)).to.deep.equal(Array.from({ length: 40 }, (_, at) => at + 1));
      expect(new Set(all.map(({ eventId }) => eventId)).size).to.equal(40);
      await agentEvents.dropAbove(stepRunId, 38);
      expect((await agentEvents.appendToStep(of(100))).get("e100")).to.deep.equal({ stepRunId, sequence: 39 });
    });

    it("are the content of the events of a run's log, whose pages end early when there is much of it", async () => {
      const { agentEvents, events } = open();
      const [agentId, stepRunId, runId] = [newId("agt"), newId("step"), newId("run")];
      const large = JSON.stringify({ text: "x".repeat(50_000) });
      const pushed = Array.from({ length: 30 }, (_, at) => sample({ agentId, stepRunId, runId, eventId: `e${at}` }));
      await agentEvents.appendToStep(pushed.map((event) => ({ ...event, data: large })));
      const logged = Array.from({ length: 32 }, (_, at): RunEvent => {
        const base = { runId, pipelineId: newId("pl"), jobId: newId("job"), number: at + 1, timeMs: at } as const;
        const step = { object: "step", stepRunId, status: "running" } as const;
        if (at < 2) return { ...base, ...step, lifecycle: "started", data: {} };
        return { ...base, ...step, lifecycle: "pushed", data: { sequence: at - 1 } };
      });
      await events.append(logged);
      const page = await events.read(runId, 0, 100);
      expect(page.slice(0, 2)).to.deep.equal(logged.slice(0, 2));
      const { eventId, type, subject, time } = pushed[0]!;
      expect(page[2]).to.deep.equal({ ...logged[2], pushed: { eventId, type, subject, time, data: large } });
      expect(page).to.have.length.within(20, 28);
      expect(isLastPage(page, 100)).to.equal(false);
      const rest = await events.read(runId, page.length, 100);
      expect(rest.at(-1)).to.deep.include({ number: 32, data: { sequence: 30 } });
      expect([...page, ...rest].map(({ number }) => number)).to.deep.equal(logged.map(({ number }) => number));
      expect(isLastPage(rest, 100)).to.equal(true);
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
