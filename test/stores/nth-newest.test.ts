/** How the embedded store finds a run behind many newer ones: in steps, between which other work goes on. */
import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import { Database } from "../../src/stores/sqlite/database.ts";
import { retentionStore } from "../../src/stores/sqlite/retention.ts";
import { sampleAggregate } from "../contracts/samples.ts";
import { openTestSqlite } from "../support/stores.ts";

const RUNS = 8;

describe("the n-th newest run of many in SQLite", () => {
  const pipelineId = newId("pl");
  let opened: Awaited<ReturnType<typeof openTestSqlite>>;
  let db: Database;
  let newestFirst: string[];

  before(async () => {
    opened = await openTestSqlite();
    db = new Database(opened.path);
    // Pairs of runs of the same time.
    const runs = Array.from({ length: RUNS }, (_, at) => sampleAggregate({ pipelineId, now: Math.floor(at / 2) }).head);
    for (const head of runs) await opened.stores.aggregates.create({ head, actors: [] });
    newestFirst = runs
      .toSorted((a, b) => b.summary.createdAt - a.summary.createdAt || (a.rootId < b.rootId ? 1 : -1))
      .map(({ rootId }) => rootId);
  });
  after(async () => {
    await db.close();
    await opened.close();
  });

  for (const skippedAtOnce of [1, 2, 3, RUNS]) {
    it(`is the same when a step passes at most ${skippedAtOnce}`, async () => {
      const { nthNewest } = retentionStore(db, { skippedAtOnce });
      const found = await Promise.all(newestFirst.map((_, newer) => nthNewest(newer, { pipelineId })));
      expect(found.map((run) => run?.runId)).to.deep.equal(newestFirst);
      expect(await nthNewest(RUNS, { pipelineId })).to.equal(undefined);
    });
  }

  it("lets the event loop turn after each step", async () => {
    let turns = 0;
    const count = (): void => {
      turns++;
      loop = setImmediate(count);
    };
    let loop = setImmediate(count);
    await retentionStore(db, { skippedAtOnce: 1 }).nthNewest(RUNS - 1, { pipelineId });
    clearImmediate(loop);
    expect(turns).to.be.at.least(3);
  });
});
