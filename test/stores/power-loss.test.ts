/** A power loss at every moment of a workload: whatever was acknowledged is there, and the store is consistent. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { verifyStores } from "../../src/app/verification/verify-stores.ts";
import { newId } from "../../src/domain/ids.ts";
import type { Aggregate } from "../../src/stores/ports/aggregates.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { shardOf } from "../../queues/shard-map.ts";
import { actorOf, lines, sampleAggregate, saveOf } from "../contracts/samples.ts";
import { PowerLossRecord } from "../support/power-loss.ts";
import { jobSpecsOf, planOf } from "../support/plans.ts";

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
const SHARDS = 16;
const RUNS = 10;

describe("an embedded store whose power fails", function () {
  this.timeout(120_000);
  let folder: string;
  let record: PowerLossRecord;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-power-"));
    record = new PowerLossRecord(join(folder, "millrace.db"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("has everything that was acknowledged, and is consistent, after every prefix of its log", async () => {
    const stores = await record.open();
    await work(stores);
    const remains = record.remains();
    const { losses, differences } = await lossesOf(remains);
    await stores.close();
    expect(remains.length, "different remains").to.be.greaterThan(60);
    expect(Math.max(...remains.map(({ acknowledged }) => acknowledged))).to.equal(record.acknowledgements.length);
    expect(losses).to.deep.equal([]);
    expect(differences).to.deep.equal([]);
  });

  it("would lose acknowledged writes if the disk did not sync", async () => {
    const stores = await record.open(false);
    await work(stores);
    const { losses } = await lossesOf(record.remains().slice(0, 5));
    await stores.close();
    expect(losses).to.include("the created run 0");
    expect(losses).to.include("the claim of run 0");
  });

  /** Writers and readers at the same time; each answer is an acknowledgement. */
  async function work(stores: Stores): Promise<void> {
    const plan = planOf([[{ steps: 2 }]]);
    await Promise.all(
      Array.from({ length: RUNS }, async (_, n) => {
        const sample = sampleAggregate({ plan });
        const shard = shardOf(sample.head.rootId, SHARDS);
        const run: Aggregate = { ...sample, head: { ...sample.head, shard } };
        const { rootId } = run.head;
        const key = { key: `key ${n}`, bodyHash: "b", createdId: rootId, at: 1 };
        const versionIs = (least: number) => async (after: Stores) =>
          ((await after.aggregates.loadHead(rootId))?.version ?? 0) >= least;
        const claimed = stores.idempotency.claim(key).then(() =>
          record.acknowledge(`the claim of run ${n}`, async (after) => {
            return (await after.idempotency.find(key.key))?.createdId === rootId;
          }),
        );
        // A second caller finds what the first one has just stored.
        const repeated = stores.idempotency.find(key.key).then((found) => {
          if (found === undefined) return;
          record.acknowledge(`the repeated claim of run ${n}`, async (after) => {
            return (await after.idempotency.find(key.key)) !== undefined;
          });
        });
        const create = () => stores.aggregates.create(run, { plan: { graph: plan, jobs: jobSpecsOf(plan) } });
        await Promise.all([
          claimed,
          repeated,
          create().then(() => record.acknowledge(`the created run ${n}`, versionIs(1))),
          create().then(() => record.acknowledge(`the run ${n} that exists`, versionIs(1))),
        ]);
        let newest = run;
        for (let turn = 0; turn < 4; turn++) {
          const save = saveOf(newest, {}, [actorOf(newest, "job")]);
          const { version } = save.head;
          const read = async (): Promise<void> => {
            const head = await stores.aggregates.loadHead(rootId);
            record.acknowledge(`version ${head!.version} of run ${n}, as read`, versionIs(head!.version));
          };
          await Promise.all([
            stores.aggregates
              .save(save)
              .then(() => record.acknowledge(`save ${version} of run ${n}`, versionIs(version))),
            // After the commit, while the sync runs.
            read(),
            nextTurn().then(read),
            nextTurn().then(nextTurn).then(read),
            stores.aggregates.save(saveOf(newest)).then(() => {
              record.acknowledge(`the conflict with save ${version} of run ${n}`, versionIs(version));
            }),
          ]);
          newest = { ...newest, head: save.head };
        }
        const stepRunId = actorOf(run, "step").id as never;
        await stores.logs.append({ stepRunId, agentId: newId("agt"), lines: lines(1, 5) });
        record.acknowledge(`the log of run ${n}`, async (after) => (await after.logs.storedThrough(stepRunId)) >= 5);
      }),
    );
  }

  async function lossesOf(remains: ReturnType<PowerLossRecord["remains"]>) {
    const losses: string[] = [];
    const differences: unknown[] = [];
    for (const [n, left] of remains.entries()) {
      const copy = join(folder, `copy-${n}`);
      const after = await record.reopen(copy, left);
      try {
        for (const { what, holds } of record.acknowledgements.slice(0, left.acknowledged)) {
          if (!(await holds(after))) losses.push(what);
        }
        const verified = await verifyStores(after, { shards: SHARDS, pauses: { storeMs: 1 } });
        differences.push(...verified.differences);
      } finally {
        await after.close();
        await rm(copy, { recursive: true, force: true });
      }
    }
    return { losses, differences };
  }
});
