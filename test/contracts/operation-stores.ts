/**
 * The contract of the stores of shards, dead letters and idempotency keys. Run over each engine by `stores.test.ts`.
 */
import { expect } from "chai";
import { GROUP_AGGREGATE } from "../../actors/group/aggregate.ts";
import { asId, type GroupId, groupIdOf, type JobRunId, newId, type ProjectId } from "../../src/domain/ids.ts";
import type { AggregateHead } from "../../src/stores/ports/aggregates.ts";
import type { Command } from "../../src/stores/ports/inbox.ts";
import type { DeadLetter } from "../../src/stores/ports/dead-letters.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { allPages, byText, sampleAggregate } from "./samples.ts";

export function operationStoresContract(open: () => Stores): void {
  describe("shards", () => {
    it("issue each epoch once, also to concurrent callers", async () => {
      const epochs = await Promise.all(Array.from({ length: 50 }, () => open().shards.takeEpoch(3)));
      expect(epochs.map(({ epoch }) => epoch).toSorted((a, b) => a - b)).to.deep.equal(
        Array.from({ length: 50 }, (_, index) => index + 1),
      );
    });

    it("issue no epoch below the least that a caller takes, and none twice", async () => {
      const take = async (least?: number) => (await open().shards.takeEpoch(6, least)).epoch;
      expect([await take(500), await take(400), await take(), await take(9_000_000_000_000)]).to.deep.equal([
        500, 501, 502, 9_000_000_000_000,
      ]);
      expect((await open().shards.epochs()).get(6)).to.equal(9_000_000_000_000);
    });

    it("issue the epochs of many in one call, of new ones and of known ones", async () => {
      const { shards } = open();
      const identity = { generation: "g1", redisRunId: "r1" };
      const known = await shards.takeEpoch(700);
      await shards.recordRedis(700, known.epoch, identity);
      const taken = await shards.takeEpochs([700, 701, 702], 50);
      expect(taken).to.deep.equal(
        new Map([
          [700, { epoch: 50, previous: identity }],
          [701, { epoch: 50, previous: null }],
          [702, { epoch: 50, previous: null }],
        ]),
      );
      expect((await shards.takeEpochs([702, 700])).get(702)).to.deep.equal({ epoch: 51, previous: null });
      expect((await shards.epochs()).get(700)).to.equal(51);
      expect(await shards.takeEpochs([], 7)).to.deep.equal(new Map());
      // The earlier owner is the earlier one for each of them: what it records is ignored.
      await shards.recordRedis(700, known.epoch, { generation: "late", redisRunId: "late" });
      expect((await shards.takeEpoch(700)).previous).to.deep.equal(identity);
    });

    it("issue each epoch once, also to callers that take those of many at the same time", async () => {
      const some = [710, 711, 712, 713];
      const calls = Array.from({ length: 12 }, (_, at) =>
        open().shards.takeEpochs(at % 2 === 0 ? some : some.slice(1).toReversed(), 1_000),
      );
      const taken = await Promise.all(calls);
      for (const shard of some) {
        const epochs = taken.flatMap((of) => of.get(shard)?.epoch ?? []);
        expect(new Set(epochs).size, `epochs of shard ${shard}`).to.equal(shard === 710 ? 6 : 12);
        expect(epochs).to.have.length(new Set(epochs).size);
      }
    });

    it("remember only the Redis of the owner with the newest epoch", async () => {
      const first = await open().shards.takeEpoch(4);
      expect(first.previous).to.equal(null);
      const identity = { generation: "g1", redisRunId: "r1" };
      await open().shards.recordRedis(4, first.epoch, identity);
      const second = await open().shards.takeEpoch(4);
      expect(second.previous).to.deep.equal(identity);
      await open().shards.recordRedis(4, first.epoch, { generation: "late", redisRunId: "late" });
      expect((await open().shards.takeEpoch(4)).previous).to.deep.equal(identity);
    });

    it("list the newest epoch of each shard that ever had an owner", async () => {
      const before = await open().shards.epochs();
      expect(before.has(5)).to.equal(false);
      await open().shards.takeEpoch(5);
      await open().shards.takeEpoch(5);
      expect(await open().shards.epochs()).to.deep.equal(new Map([...before, [5, 2]]));
    });

    it("are told apart by whether their owner has work", async () => {
      const { aggregates, inbox, shards } = open();
      const withdraw = {
        type: "withdraw",
        jobId: asId<JobRunId>("job_X"),
        projectId: asId<ProjectId>("default"),
      } as const;
      const [idle, commanded, owing, due, later, answered] = [901, 902, 903, 904, 905, 906];
      const create = async (shard: number, head: Partial<AggregateHead>): Promise<void> => {
        const sample = sampleAggregate({ shard });
        await aggregates.create({ ...sample, head: { ...sample.head, nextDueAt: null, owed: [], ...head } });
      };
      const commandFor = (shard: number): Command => ({
        id: newId("cmd"),
        rootId: newId("run"),
        shard,
        storedAt: 1,
        kind: "stop",
        reason: "",
        operator: "ann",
        actor: "ann",
      });
      await create(idle, {});
      await inbox.insert(commandFor(commanded));
      await create(owing, {
        owed: [{ effect: withdraw, eventNumber: null, at: 1 }],
      });
      await create(due, { nextDueAt: 5_000 });
      await create(later, { nextDueAt: 5_001 });
      const past = commandFor(answered);
      await inbox.insert(past);
      await inbox.answer(past.id, { outcome: "accepted", status: "cancelled" });
      const all = [idle, commanded, owing, due, later, answered, 907];
      expect([...(await shards.withWork(all, 5_000))]).to.have.members([commanded, owing, due]);
      expect([...(await shards.withWork([idle, due], 5_000))], "only the shards that are asked for").to.deep.equal([
        due,
      ]);
      expect((await shards.withWork([], 5_000)).size).to.equal(0);
    });

    it("page the groups of several shards that are not settled", async () => {
      const { aggregates } = open();
      const [one, two, other] = [910, 911, 912];
      const live: string[] = [];
      for (let at = 0; at < 12; at++) {
        const shard = [one, two, other][at % 3]!;
        const groupId = groupIdOf(asId<ProjectId>("default"), `paged-${at}`);
        const { head, actors } = GROUP_AGGREGATE.initial!(groupId, shard);
        const settled = at >= 9;
        await aggregates.create({ head: { ...head, final: settled, settled }, actors });
        if (!settled && shard !== other) live.push(groupId);
      }
      // A live run is no group.
      await aggregates.create(sampleAggregate({ shard: one }));
      const found = await allPages((after) => aggregates.pageLiveGroups([one, two], after as GroupId, 4));
      expect(found).to.deep.equal(byText(live));
      expect(await aggregates.pageLiveGroups([], "", 4)).to.deep.equal([]);
    });

    it("change a setting only from the value that was read", async () => {
      const { shards } = open();
      expect(await shards.readSetting("Z")).to.equal(undefined);
      expect(await shards.swapSetting("Z", "1", "2")).to.equal(false);
      await shards.fixSetting("Z", "1");
      expect(await shards.swapSetting("Z", "2", "3")).to.equal(false);
      expect(await shards.swapSetting("Z", "1", "3")).to.equal(true);
      expect(await shards.readSetting("Z")).to.equal("3");
    });

    it("keep the first value of a fixed setting", async () => {
      expect(await open().shards.fixSetting("X", "16")).to.equal("16");
      expect(await open().shards.fixSetting("X", "32")).to.equal("16");
    });

    it("raise a setting and never lower it, also for concurrent callers", async () => {
      const { shards } = open();
      expect(await shards.raiseSetting("Y", 2)).to.equal(2);
      expect(await shards.raiseSetting("Y", 1)).to.equal(2);
      const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => shards.raiseSetting("Y", at)));
      expect(answers.every((answer, at) => answer >= at)).to.equal(true);
      expect(await shards.raiseSetting("Y", 10)).to.equal(11);
      expect(await shards.fixSetting("Y", "1")).to.equal("11");
    });
  });

  describe("dead letters", () => {
    const deadLetterOf = (at: number, message: unknown = {}): DeadLetter => ({
      id: newId("cmd"),
      shard: 1,
      rootId: "run_1",
      letter: { to: { kind: "job", id: "job_1" }, message },
      reason: "r",
      at,
    });

    it("are kept once, with any content and with the newest failure", async () => {
      const dead = deadLetterOf(1, { "a.b": { $set: 1 } });
      const before = await open().deadLetters.count();
      await Promise.all(Array.from({ length: 10 }, () => open().deadLetters.insert(dead)));
      expect(await open().deadLetters.count()).to.equal(before + 1);
      expect(await open().deadLetters.find(dead.id)).to.deep.equal({ ...dead, times: 10 });
      await open().deadLetters.insert({ ...dead, reason: "newer", at: 2 });
      expect(await open().deadLetters.find(dead.id)).to.deep.equal({ ...dead, reason: "newer", at: 2, times: 11 });
    });

    it("are listed by time, in both directions and from any offset", async () => {
      const dead = [deadLetterOf(-3), deadLetterOf(-1), deadLetterOf(-2)];
      for (const deadLetter of dead) await open().deadLetters.insert(deadLetter);
      const times = async (offset: number, limit: number, descending: boolean): Promise<readonly number[]> =>
        (await open().deadLetters.list({ offset, limit, descending })).map(({ at }) => at);
      expect(await times(0, 2, false)).to.deep.equal([-3, -2]);
      expect(await times(1, 2, false)).to.deep.equal([-2, -1]);
      const all = await open().deadLetters.count();
      expect(await times(all - 2, 10, true)).to.deep.equal([-2, -3]);
    });

    it("are removed, unless their message has failed again since", async () => {
      const dead = deadLetterOf(1);
      await open().deadLetters.insert(dead);
      await open().deadLetters.insert(dead);
      await open().deadLetters.remove(dead.id, 1);
      expect(await open().deadLetters.find(dead.id)).to.include({ times: 2 });
      await open().deadLetters.remove(dead.id, 2);
      await open().deadLetters.remove(dead.id, 2);
      expect(await open().deadLetters.find(dead.id)).to.equal(undefined);
    });
  });

  describe("idempotency keys", () => {
    it("are removed only while they stand for the object that the caller names", async () => {
      const claim = { key: "d".repeat(64), bodyHash: "b", createdId: "mine", at: 7 };
      await open().idempotency.claim(claim);
      await open().idempotency.remove(claim.key, "another");
      expect(await open().idempotency.find(claim.key)).to.deep.equal(claim);
      await open().idempotency.remove(claim.key, "mine");
      expect(await open().idempotency.find(claim.key)).to.equal(undefined);
    });

    it("answer the first claim of a key, also to concurrent callers", async () => {
      const key = newId("cmd");
      const claims = Array.from({ length: 20 }, (_, at) => ({ key, bodyHash: "h", createdId: `id-${at}`, at }));
      const answers = await Promise.all(claims.map((claim) => open().idempotency.claim(claim)));
      expect(new Set(answers.map(({ createdId }) => createdId)).size).to.equal(1);
    });

    it("are found as they were first claimed, and not before", async () => {
      const claim = { key: newId("cmd"), bodyHash: "h", createdId: '{"a.b":1}', at: 7 };
      expect(await open().idempotency.find(claim.key)).to.equal(undefined);
      await open().idempotency.claim(claim);
      await open().idempotency.claim({ ...claim, createdId: "other", at: 8 });
      expect(await open().idempotency.find(claim.key)).to.deep.equal(claim);
    });
  });
}
