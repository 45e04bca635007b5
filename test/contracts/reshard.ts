/** The contract of the move of all records to other shards. Run over each engine by `stores.test.ts`, as the last one. */
import { expect } from "chai";
import { newId, type RootId } from "../../src/domain/ids.ts";
import { shardOf } from "../../queues/shard-map.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { actorOf, allPages, sampleAggregate, sampleApproval, withIndex } from "./samples.ts";

const AGGREGATES = 130;
const [BEFORE, AFTER] = [16, 64];

export function reshardContract(open: () => Stores): void {
  describe("the move to another number of shards", () => {
    const to = (rootId: string): number => shardOf(rootId, AFTER);
    let roots: readonly RootId[];

    /** Where the store finds each root, by shard, as owners look for them. */
    async function found(): Promise<Readonly<Record<string, readonly string[]>>> {
      const { aggregates, inbox } = open();
      const all: Record<string, string[]> = { unsettled: [], owing: [], bound: [], queued: [], commands: [] };
      for (let shard = 0; shard < AFTER; shard++) {
        const add = (kind: string, ids: readonly string[]): void => {
          all[kind]!.push(
            ...ids.filter((id) => (roots as readonly string[]).includes(id)).map((id) => `${shard} ${id}`),
          );
        };
        add("unsettled", await allPages((after) => aggregates.pageUnsettled(shard, false, after, 100)));
        add("unsettled", await allPages((after) => aggregates.pageUnsettled(shard, true, after, 100)));
        add("owing", await allPages((after) => aggregates.pageOwing(shard, after, 100)));
        add("commands", await allPages((after) => inbox.pageRoots(shard, after, 100)));
        const jobs = [
          await aggregates.pageBoundJobs(shard, "", 1_000),
          await aggregates.pageQueuedJobs(shard, "", 1_000),
        ];
        add(
          "bound",
          jobs[0]!.map(({ runId }) => runId),
        );
        add(
          "queued",
          jobs[1]!.map(({ runId }) => runId),
        );
      }
      return Object.fromEntries(Object.entries(all).map(([kind, ids]) => [kind, ids.toSorted()]));
    }
    const expected = (ids: readonly RootId[]) => ids.map((id) => `${to(id)} ${id}`).toSorted();

    before(async () => {
      const { aggregates, inbox, deadLetters } = open();
      const made: RootId[] = [];
      for (let at = 0; at < AGGREGATES; at++) {
        const sample = sampleAggregate();
        const { rootId } = sample.head;
        const shard = shardOf(rootId, BEFORE);
        const job = actorOf(sample, "job");
        const status = at % 2 === 0 ? { agentId: newId("agt") } : { status: "queued" };
        const actors = sample.actors.map((actor) => (actor === job ? withIndex(job, status) : actor));
        const approval = sampleApproval(sample, { stage: 0 }, at);
        await aggregates.create({ head: { ...sample.head, shard }, actors: [...actors, approval] });
        made.push(rootId);
      }
      roots = made;
      // The last root has a command and no aggregate yet, as a concurrency group without members.
      const alone = newId("run");
      for (const rootId of [...roots.slice(0, 3), alone]) {
        const shard = shardOf(rootId, BEFORE);
        const words = { reason: "", operator: "ann", actor: "ann" };
        await inbox.insert({ id: newId("cmd"), rootId, shard, storedAt: 1, kind: "stop", ...words });
      }
      roots = [...roots, alone];
      const letter = { to: { kind: "job", id: "job_1" }, message: { "a.b": 1 } } as const;
      await deadLetters.insert({
        id: "moved",
        shard: shardOf(made[0]!, BEFORE),
        rootId: made[0]!,
        letter,
        reason: "r",
        at: 1,
      });
    });

    it("lets the owner of the new shard find everything, and no other owner", async () => {
      // The first attempt is cut off in the middle.
      let left = AGGREGATES;
      const dies = (rootId: string): number => {
        if (left-- === 0) throw new Error("the process dies");
        return to(rootId);
      };
      const cut = await open()
        .reshard(AFTER, dies)
        .catch((error: unknown) => error);
      expect(cut).to.be.instanceOf(Error);
      await open().reshard(AFTER, to);
      const aggregates = roots.slice(0, AGGREGATES);
      const isBound = (_: RootId, at: number) => at % 2 === 0;
      expect(await found()).to.deep.equal({
        unsettled: expected(aggregates),
        owing: expected([]),
        bound: expected(aggregates.filter(isBound)),
        queued: expected(aggregates.filter((id, at) => !isBound(id, at))),
        commands: expected([...roots.slice(0, 3), roots.at(-1)!]),
      });
      for (const rootId of aggregates) expect((await open().aggregates.load(rootId))!.head.shard).to.equal(to(rootId));
      const [command] = await open().inbox.pending(roots.at(-1)!);
      expect(command).to.include({ shard: to(roots.at(-1)!), operator: "ann" });
      expect(await open().deadLetters.find("moved")).to.include({ shard: to(roots[0]!), times: 1 });
    });

    it("finds nothing to do when it is repeated", async () => {
      expect(await open().reshard(AFTER, to)).to.deep.equal({ aggregates: 0, commands: 0, deadLetters: 0 });
    });

    it("makes the next owner of each shard tell Redis everything, and repeats no epoch", async () => {
      const { shards } = open();
      const before = await shards.takeEpoch(AFTER - 1);
      await shards.recordRedis(AFTER - 1, before.epoch, { generation: "g", redisRunId: "r" });
      const never = AFTER - 2;
      expect((await shards.epochs()).has(never)).to.equal(false);
      await open().reshard(AFTER, to);
      expect((await shards.epochs()).has(never), "no node has owned it").to.equal(false);
      for (const shard of [AFTER - 1, never]) {
        const { epoch, previous } = await shards.takeEpoch(shard);
        expect(epoch).to.equal(shard === never ? 1 : before.epoch + 1);
        expect(previous).to.include({ redisRunId: "" });
      }
    });
  });
}
