/** Tests of the calls with which an owner takes the epochs of many shards. */
import { expect } from "chai";
import { JoinedEpochs } from "../../queues/joined-epochs.ts";
import type { EpochStore, TakenEpoch } from "../../queues/ports.ts";

type Answer = ReadonlyMap<number, TakenEpoch>;

/** A store that notes the calls, and answers each when the test says so. */
function openStore() {
  const calls: { readonly shards: readonly number[]; readonly least: number; answer(): void; fail(): void }[] = [];
  const epochs = new Map<number, number>();
  const store: EpochStore = {
    takeEpochs: (shards, least) =>
      new Promise<Answer>((resolve, reject) => {
        const take = (shard: number) => {
          const epoch = Math.max((epochs.get(shard) ?? 0) + 1, least);
          epochs.set(shard, epoch);
          return [shard, { epoch, previous: null }] as const;
        };
        calls.push({
          shards,
          least,
          answer: () => resolve(new Map(shards.map(take))),
          fail: () => reject(new Error("the store is away")),
        });
      }),
    recordRedis: () => Promise.resolve(),
  };
  return { store, calls };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("the epochs of shards that are opened at the same time", () => {
  it("are taken in one call, above the highest least of all", async () => {
    const { store, calls } = openStore();
    const joined = new JoinedEpochs(store);
    const taken = Promise.all([1, 2, 3].map((shard) => joined.takeEpoch(shard, 10 * shard)));
    await turn();
    expect(calls.map(({ shards, least }) => ({ shards, least }))).to.deep.equal([{ shards: [1, 2, 3], least: 30 }]);
    calls[0]!.answer();
    expect((await taken).map(({ epoch }) => epoch)).to.deep.equal([30, 30, 30]);
  });

  it("are taken in a call of their own when a shard is opened twice", async () => {
    const { store, calls } = openStore();
    const joined = new JoinedEpochs(store);
    const taken = Promise.all([joined.takeEpoch(7, 1), joined.takeEpoch(7, 1)]);
    await turn();
    expect(calls.map(({ shards }) => shards)).to.deep.equal([[7], [7]]);
    for (const call of calls) call.answer();
    expect((await taken).map(({ epoch }) => epoch)).to.deep.equal([1, 2]);
  });

  it("are refused together when the store fails, and taken by the next call", async () => {
    const { store, calls } = openStore();
    const joined = new JoinedEpochs(store);
    const refused = Promise.allSettled([joined.takeEpoch(1, 1), joined.takeEpoch(2, 1)]);
    await turn();
    calls[0]!.fail();
    expect((await refused).map(({ status }) => status)).to.deep.equal(["rejected", "rejected"]);
    const again = joined.takeEpoch(1, 1);
    await turn();
    calls[1]!.answer();
    expect((await again).epoch).to.equal(1);
  });

  it("wait for an answer when four calls have none, and then go in one call", async () => {
    const { store, calls } = openStore();
    const joined = new JoinedEpochs(store);
    const taken: Promise<TakenEpoch>[] = [];
    for (const shard of [1, 2, 3, 4, 5, 6]) {
      taken.push(joined.takeEpoch(shard, 1));
      await turn();
    }
    expect(calls.map(({ shards }) => shards)).to.deep.equal([[1], [2], [3], [4]]);
    calls[0]!.answer();
    await taken[0];
    await turn();
    expect(calls.at(-1)!.shards).to.deep.equal([5, 6]);
    for (const call of calls.slice(1)) call.answer();
    await Promise.all(taken);
  });
});
