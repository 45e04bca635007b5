import { expect } from "chai";
import { AgeGuard } from "../../../src/app/upkeep/age-guard.ts";
import { type AgeMemory, judgeAges } from "../../../src/app/upkeep/age-rules.ts";
import { pruneArtifacts } from "../../../src/app/content/artifact-pruner.ts";
import { pruneCaches } from "../../../src/app/content/cache-pruner.ts";
import { asId, type ProjectId } from "../../../src/domain/ids.ts";
import type { Stores } from "../../../src/stores/ports/stores.ts";
import { storeArtifact } from "../../contracts/artifact-store.ts";
import { sampleAggregate } from "../../contracts/samples.ts";
import { silentLog } from "../../support/kernel-ports.ts";
import { planOf } from "../../support/plans.ts";
import { openTestSqlite } from "../../support/stores.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 10, 22);

describe("deletion by age", () => {
  describe("as its rules judge", () => {
    /** Looks one after the other: `[wall, monotonic]` with the same highest time in the store. */
    const judge = (newest: number | null, ...looks: readonly (readonly [number, number])[]) => {
      let memory: AgeMemory | null = null;
      return looks.map(([wall, monotonic]) => {
        const judged = judgeAges(memory, { wall, monotonic, newest });
        ({ memory } = judged);
        return judged.verdict;
      });
    };

    it("stops while the clock is more than an hour ahead of the highest time in the store", () => {
      expect(judge(NOW, [NOW + HOUR, 0], [NOW + HOUR + 1, 1], [NOW, 2])).to.deep.equal(["allowed", "ahead", "allowed"]);
    });

    it("goes on with an empty store, and with a clock that is behind", () => {
      expect(judge(null, [NOW, 0])).to.deep.equal(["allowed"]);
      expect(judge(NOW, [NOW - DAY, 0])).to.deep.equal(["allowed"]);
    });

    it("is held for an hour after the clock jumped, although runs carry the new time", () => {
      const later = NOW + DAY;
      expect(
        judge(later, [NOW, 0], [later, 10_000], [later + HOUR - 1, 10_000 + HOUR - 1], [later + HOUR, 10_000 + HOUR]),
      ).to.deep.equal(["allowed", "jumped", "jumped", "allowed"]);
    });

    it("goes on at once when the jump is taken back", () => {
      expect(judge(NOW + DAY, [NOW, 0], [NOW + DAY, 10], [NOW + 20, 20])).to.deep.equal([
        "allowed",
        "jumped",
        "allowed",
      ]);
    });
  });

  describe("over a store", () => {
    let stores: Stores;
    let close: () => Promise<void>;
    let now: number;
    let monotonic: number;
    let plan: ReturnType<typeof planOf>;
    const clock = { now: () => now, monotonic: () => monotonic };
    const guardOf = (isClockWrong?: () => boolean) => new AgeGuard({ stores, clock, log: silentLog }, isClockWrong);
    const pass = (ms: number): void => void ((now += ms), (monotonic += ms));

    beforeEach(async () => {
      const opened = await openTestSqlite();
      ({ stores } = opened);
      close = () => opened.close();
      const projectId = asId<ProjectId>("prj_1");
      plan = { ...planOf([[{ steps: 1 }]]), projectId };
      await stores.pipelines.createProject({ projectId, name: "p", createdAt: NOW });
      [now, monotonic] = [NOW, 0];
    });
    afterEach(() => close());

    it("follows the newest run at first, and then the time that was noted while no run came", async () => {
      await stores.aggregates.create(sampleAggregate({ plan, now: NOW - 10 * MINUTE }));
      const guard = guardOf();
      expect(await guard.mayDelete()).to.equal(true);
      for (let look = 0; look < 12; look++) {
        pass(30 * MINUTE);
        expect(await guard.mayDelete(), `after ${look + 1} half hours without a run`).to.equal(true);
      }
      now += DAY;
      expect(await guardOf().mayDelete(), "started with a clock a day ahead").to.equal(false);
    });

    it("stops when the clock jumps between two looks, also when a run with the new time comes first", async () => {
      await stores.aggregates.create(sampleAggregate({ plan, now: NOW }));
      const guard = guardOf();
      expect(await guard.mayDelete()).to.equal(true);
      now += DAY;
      monotonic += 10_000;
      await stores.aggregates.create(sampleAggregate({ plan, now }));
      expect(await guard.mayDelete()).to.equal(false);
      pass(HOUR);
      expect(await guard.mayDelete()).to.equal(true);
    });

    it("stops while the clock differs from the other clocks", async () => {
      let isWrong = true;
      const guard = guardOf(() => isWrong);
      expect(await guard.mayDelete()).to.equal(false);
      isWrong = false;
      pass(10_000);
      expect(await guard.mayDelete()).to.equal(true);
    });

    it("keeps what has expired while it is stopped, and finishes deletions that had begun", async () => {
      const expired = await storeArtifact(stores, { expiresAt: NOW - 1 });
      const begun = await storeArtifact(stores, { expiresAt: NOW - 1 });
      await stores.artifacts.markDeleting(begun.artifactId, NOW);
      const context = { stores, clock, log: silentLog, cacheRules: { maxProjectBytes: 1e9 } as never };
      await pruneArtifacts(context, 100, false);
      expect(await stores.artifacts.find(begun.artifactId)).to.equal(undefined);
      expect(await stores.artifacts.find(expired.artifactId)).to.not.equal(undefined);
      await pruneArtifacts(context, 100, true);
      expect(await stores.artifacts.find(expired.artifactId)).to.equal(undefined);
      expect(await pruneCaches(context, 100, false)).to.equal(0);
    });
  });
});
