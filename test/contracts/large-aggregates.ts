/** The contract of reads of large aggregates. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { asId, type RunId } from "../../src/domain/ids.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { planOf } from "../support/plans.ts";
import { sampleAggregate, sampleApproval, saveOf, withIndex } from "./samples.ts";

export function largeAggregateContract(open: () => Stores): void {
  describe("large aggregates", () => {
    it("are loaded in pieces, all from one moment, with pauses between them", async () => {
      const { aggregates } = open();
      const aggregate = sampleAggregate({ plan: planOf([Array.from({ length: 300 }, () => ({ steps: 2 }))]) });
      const { rootId } = aggregate.head;
      await aggregates.create(aggregate);
      const whole = (await aggregates.load(rootId))!;
      const step = withIndex(aggregate.actors.at(-1)!, { status: "queued" }, { changed: true });
      let pauses = 0;
      let turned = 0;
      const loading = aggregates.loadInPieces(rootId, async () => {
        // A save in the middle of the load.
        if (++pauses === 3) await aggregates.save(saveOf(aggregate, { eventNumber: 3 }, [step]));
        await new Promise((resolve) => setImmediate(resolve));
        turned++;
      });
      const loaded = (await loading)!;
      expect(loaded.head).to.deep.equal(whole.head);
      expect(loaded.actors).to.deep.equal(whole.actors);
      expect(turned, "901 actors").to.be.above(8);
      const changed = (await aggregates.loadInPieces(rootId, async () => {}))!;
      expect(changed).to.deep.equal(await aggregates.load(rootId));
      expect(changed.head.version).to.equal(2);
      expect(await aggregates.loadInPieces(asId<RunId>("run_NONE"), async () => {})).to.equal(undefined);
    });

    it("are loaded in pieces by several callers at once, also when one of them fails", async () => {
      const { aggregates } = open();
      const aggregate = sampleAggregate({ plan: planOf([Array.from({ length: 100 }, () => ({ steps: 2 }))]) });
      const { rootId } = aggregate.head;
      await aggregates.create(aggregate);
      const [failed, ...others] = await Promise.allSettled([
        aggregates.loadInPieces(rootId, () => Promise.reject(new Error("enough"))),
        aggregates.loadInPieces(rootId, () => new Promise((resolve) => setImmediate(resolve))),
        aggregates.loadInPieces(rootId, async () => {}),
      ]);
      expect(failed).to.include({ status: "rejected" });
      const whole = await aggregates.load(rootId);
      for (const each of others) expect(each).to.deep.equal({ status: "fulfilled", value: whole });
    });

    it("tell their version and their number of actors, counted up to a bound", async () => {
      const { aggregates } = open();
      const aggregate = sampleAggregate({ plan: planOf([[{ steps: 2 }, {}]]) });
      const { rootId } = aggregate.head;
      await aggregates.create(aggregate);
      expect(await aggregates.sizeOf(rootId, 100)).to.deep.equal({ version: 1, actors: 6 });
      expect(await aggregates.sizeOf(rootId, 4)).to.deep.equal({ version: 1, actors: 4 });
      await aggregates.save(saveOf(aggregate, {}, [sampleApproval(aggregate, { stage: 0 }, 7)]));
      expect(await aggregates.sizeOf(rootId, 100)).to.deep.equal({ version: 2, actors: 7 });
      expect(await aggregates.sizeOf(asId<RunId>("run_NONE"), 100)).to.equal(undefined);
    });
  });
}
