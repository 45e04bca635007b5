/** The contract of the store of step outputs. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import type { StepOutputs } from "../../src/stores/ports/outputs.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

const MAX_BYTES = 64 * 1024;
const ROOM = 1024 * 1024;

export function outputStoreContract(open: () => Stores): void {
  describe("step outputs", () => {
    const sample = (fields: Partial<StepOutputs> = {}): StepOutputs => ({
      runId: newId("run"),
      stepRunId: newId("step"),
      token: 1,
      values: [["version", "1.2.3"]],
      ...fields,
    });
    const keyOf = ({ stepRunId, token }: StepOutputs) => ({ stepRunId, token });

    async function findsAgain(outputs: StepOutputs): Promise<void> {
      await open().outputs.put(outputs, ROOM);
      expect(await open().outputs.find([keyOf(outputs)])).to.deep.equal([outputs]);
    }

    it("are found by step and token, and only where some were stored", async () => {
      const [one, two] = [sample(), sample({ values: [] })];
      for (const outputs of [one, two]) await open().outputs.put(outputs, ROOM);
      const unknown = [keyOf(sample()), { ...keyOf(one), token: 2 }];
      const found = await open().outputs.find([...unknown, keyOf(two), keyOf(one), keyOf(one)]);
      expect(found).to.have.deep.members([one, two]);
      expect(await open().outputs.find(unknown)).to.deep.equal([]);
    });

    it("do not change when a repeat brings other values", async () => {
      const first = sample();
      await open().outputs.put(first, ROOM);
      await open().outputs.put(first, ROOM);
      await open().outputs.put({ ...first, runId: newId("run"), values: [["version", "other"]] }, ROOM);
      expect(await open().outputs.find([keyOf(first)])).to.deep.equal([first]);
    });

    it("are those of exactly one of many concurrent reports", async () => {
      const { runId, stepRunId } = sample();
      const reports = Array.from({ length: 20 }, (_, at) => sample({ runId, stepRunId, values: [["by", String(at)]] }));
      await Promise.all(reports.map((report) => open().outputs.put(report, ROOM)));
      const [kept, ...others] = await open().outputs.find([{ stepRunId, token: 1 }]);
      expect(others).to.deep.equal([]);
      expect(reports).to.deep.include(kept);
    });

    it("of all attempts of a run stay within the bound, and repeats do not count", async () => {
      const runId = newId("run");
      const full = sample({ runId, values: [["é", "x".repeat(58)]] });
      const put = (outputs: StepOutputs) => open().outputs.put(outputs, 100);
      expect(await put(full)).to.equal("stored");
      expect(await put({ ...full, token: 2 })).to.equal("full");
      expect(await put(full), "a repeat").to.equal("stored");
      expect(await put(sample({ runId, values: [["n", "y".repeat(40)]] }))).to.equal("full");
      expect(await put(sample({ runId, values: [["n", "y".repeat(39)]] }))).to.equal("stored");
      expect(await put(full), "a repeat when there is no room").to.equal("stored");
      expect(await put(sample({ values: full.values })), "of another run").to.equal("stored");
      expect(await open().outputs.find([keyOf({ ...full, token: 2 })])).to.deep.equal([]);
    });

    it("are kept apart by token", async () => {
      const { runId, stepRunId } = sample();
      const ofOneStep = [1, 2, 2 ** 40].map((token) =>
        sample({ runId, stepRunId, token, values: [["token", String(token)]] }),
      );
      for (const outputs of ofOneStep) await open().outputs.put(outputs, ROOM);
      expect(await open().outputs.find([{ stepRunId, token: 2 }])).to.deep.equal([ofOneStep[1]]);
      expect(await open().outputs.find(ofOneStep.map(keyOf))).to.have.deep.members(ofOneStep);
    });

    it("may have any names and values, and keep their order", () =>
      findsAgain(
        sample({
          values: [
            ["", ""],
            ["$set", "$where"],
            ["__proto__", "constructor"],
            ["a.b.c", " a\nb\r\n\t"],
            ["a.b", '{"json": [1, null]}'],
            ["größe", "日本語 🚂 \u2028"],
            ["0", "\u0000 and on"],
          ],
        }),
      ));

    it("may have 64 kB, in one value or in many", async () => {
      await findsAgain(sample({ values: [["all", "é".repeat(MAX_BYTES / 2)]] }));
      const many = Array.from({ length: MAX_BYTES / 16 }, (_, at) => [`n${at}`.padEnd(8), "8 bytes."] as const);
      await findsAgain(sample({ values: many }));
    });

    it("are found for several hundred steps at once", async () => {
      const runId = newId("run");
      const stored = Array.from({ length: 1_100 }, (_, at) => sample({ runId, values: [["at", String(at)]] }));
      await Promise.all(stored.map((outputs) => open().outputs.put(outputs, ROOM)));
      const unknown = Array.from({ length: 300 }, () => keyOf(sample()));
      const found = await open().outputs.find([...stored.map(keyOf), ...unknown]);
      const inOrder = (list: readonly StepOutputs[]) => list.toSorted((a, b) => (a.stepRunId < b.stepRunId ? -1 : 1));
      expect(inOrder(found)).to.deep.equal(inOrder(stored));
    });
  });
}
