/** The contract of test histories. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { TEST_ORDERS, type TestHistory, type TestOrder } from "../../src/stores/ports/statistics.ts";

export function testHistoryStoreContract(open: () => Stores): void {
  describe("test histories", () => {
    const pipelineId = newId("pl");
    const sample = (testId: string, fields: Partial<TestHistory> = {}): TestHistory => ({
      pipelineId,
      testId,
      job: "unit (v=1.0)",
      step: "$test",
      suite: "a.b",
      name: "adds é",
      file: "",
      line: 0,
      results: [{ runId: newId("run"), at: 5, outcome: "failed", isFlaky: false, durationMs: 3, revision: "r1" }],
      flaky: 0,
      failing: 0,
      meanMs: 0,
      seenAt: 1,
      version: 1,
      ...fields,
    });
    const store = () => open().testHistories;
    const idsOf = (found: readonly TestHistory[]) => found.map(({ testId }) => testId);

    it("are stored once for each version, and a put that comes too late changes nothing", async () => {
      const of = newId("pl");
      const [a, b] = [sample("a", { pipelineId: of }), sample("b", { pipelineId: of })];
      expect(await store().put([a])).to.equal(true);
      expect(await store().put([{ ...a, flaky: 9 }, b]), "a exists").to.equal(false);
      expect(await store().find(of, ["a", "b", "c"])).to.have.deep.members([a, b]);
      expect(await store().find(newId("pl"), ["a"])).to.deep.equal([]);
      const next = { ...a, version: 2, flaky: 1 };
      expect(await store().put([next])).to.equal(true);
      expect(await store().put([{ ...next, flaky: 2 }]), "a repeat").to.equal(false);
      expect(await store().put([{ ...b, version: 3 }]), "a version between is missing").to.equal(false);
      expect(await store().find(of, ["a", "b"])).to.have.deep.members([next, b]);
      expect(await store().put([])).to.equal(true);
    });

    it("are listed by each figure, the largest first, page by page, and without those that have none", async () => {
      const other = newId("pl");
      await store().put([
        sample("a", { flaky: 1, failing: 3 }),
        sample("b", { flaky: 2, meanMs: 7 }),
        sample("c", { flaky: 1, meanMs: 9 }),
        sample("d"),
        sample("e", { pipelineId: other, flaky: 5, failing: 5, meanMs: 5 }),
      ]);
      const list = async (order: TestOrder) => idsOf(await store().list(pipelineId, { order, limit: 10 }));
      expect(await Promise.all(TEST_ORDERS.map(list))).to.deep.equal([["b", "c", "a"], ["a"], ["c", "b"]]);
      const page = { order: "flaky", limit: 1 } as const;
      expect(idsOf(await store().list(pipelineId, { ...page, after: { at: 2, id: "b" } }))).to.deep.equal(["c"]);
      expect(idsOf(await store().list(pipelineId, { ...page, after: { at: 1, id: "c" } }))).to.deep.equal(["a"]);
      expect(await store().list(pipelineId, { ...page, after: { at: 1, id: "a" } })).to.deep.equal([]);
    });

    it("are bounded by pipeline, forgotten by age, and go with their pipeline", async () => {
      const [of, other] = [newId("pl"), newId("pl")];
      const all = [5, 3, 4, 1].map((seenAt) => sample(`t${seenAt}`, { pipelineId: of, seenAt: seenAt - 1_000 }));
      await store().put([...all, sample("x", { pipelineId: other, seenAt: 1 })]);
      const left = async () =>
        idsOf(
          await store().find(
            of,
            all.map(({ testId }) => testId),
          ),
        ).toSorted();
      await store().trim(of, 3);
      expect(await left()).to.deep.equal(["t3", "t4", "t5"]);
      expect(await store().forget(4 - 1_000, 10)).to.equal(1);
      expect(await left()).to.deep.equal(["t4", "t5"]);
      expect(await store().forget(0, 1), "at most one").to.equal(1);
      await store().drop(of);
      expect(await left()).to.deep.equal([]);
      expect(await store().find(other, ["x"])).to.have.length(1);
    });
  });
}
