/** The contract of lists that are read page by page. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { cacheIdOf, newId } from "../../src/domain/ids.ts";
import type { RunStatus } from "../../src/domain/status.ts";
import type { AggregateHead } from "../../src/stores/ports/aggregates.ts";
import { COUNTED_AT_MOST, isTooDeep, type ListPlace, type Page, MAX_PASSED } from "../../src/stores/ports/pages.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { planOf } from "../support/plans.ts";
import { sampleAggregate, sampleApproval, saveOf } from "./samples.ts";

/** A list of seven items that are stored in any order; every other one has the time of the one before. */
interface Listed<T> {
  readonly page: (request: { page: number; pageSize: number; after?: ListPlace | undefined }) => Promise<Page<T>>;
  readonly placeOf: (item: T) => ListPlace;
}

export function listPagesContract(open: () => Stores): void {
  describe("lists", () => {
    const times = [4, 1, 3, 1, 2, 2, 4];

    it("of runs with a status have each run, also after a save that keeps it", async () => {
      const { aggregates } = open();
      const aggregate = sampleAggregate({ pipelineId: newId("pl") });
      const { rootId, summary } = aggregate.head;
      const { pipelineId } = summary;
      await aggregates.create(aggregate);
      const listed = async (status: RunStatus) => {
        const page = { page: 1, pageSize: 10, descending: true };
        return (await aggregates.listRuns({ pipelineId, status }, page)).list.map((head) => head.version);
      };
      const kept = saveOf(aggregate, { eventNumber: 7, summary: { ...summary, startedAt: 5 } });
      expect(await aggregates.save({ ...kept, keepsStatus: true })).to.equal("saved");
      expect((await aggregates.load(rootId))?.head).to.deep.include({ version: 2, eventNumber: 7 });
      expect((await aggregates.load(rootId))?.head.summary).to.deep.equal({ ...summary, startedAt: 5 });
      expect(await listed(summary.status)).to.deep.equal([2]);
      const ended = saveOf({ head: kept.head as AggregateHead }, { summary: { ...summary, status: "failed" } });
      expect(await aggregates.save({ ...ended, keepsStatus: false })).to.equal("saved");
      expect([await listed(summary.status), await listed("failed")]).to.deep.equal([[], [3]]);
    });

    async function expectPages<T>({ page, placeOf }: Listed<T>): Promise<void> {
      const whole = await page({ page: 1, pageSize: 100 });
      expect(whole.total).to.equal(7);
      expect(whole.list).to.have.length(7);
      const byNumber: T[] = [];
      for (let number = 1; number <= 4; number++) byNumber.push(...(await page({ page: number, pageSize: 2 })).list);
      expect(byNumber).to.deep.equal(whole.list);
      const byPlace: T[] = [];
      for (let after: ListPlace | undefined; ;) {
        const { list, total } = await page({ page: 9, pageSize: 3, ...(after && { after }) });
        if (after === undefined) {
          expect([list, total]).to.deep.equal([[], 7]);
          after = placeOf(whole.list[0]!);
          byPlace.push(whole.list[0]!);
          continue;
        }
        if (list.length === 0) break;
        byPlace.push(...list);
        after = placeOf(list.at(-1)!);
      }
      expect(byPlace).to.deep.equal(whole.list);
      expect((await page({ page: 1 + MAX_PASSED, pageSize: 2 })).list).to.deep.equal([]);
    }

    it("of agent events go on behind a place, in both directions", async () => {
      const { agentEvents } = open();
      const [runId, agents] = [newId("run"), [newId("agt"), newId("agt")]];
      const fields = { runId, stepRunId: newId("step"), type: "t", subject: "", time: 1, data: "{}" };
      await agentEvents.append(
        times.map((receivedAt, at) => ({ ...fields, receivedAt, agentId: agents[at % 2]!, eventId: `a/${at}` })),
      );
      for (const descending of [false, true]) {
        await expectPages({
          page: (request) => agentEvents.list(runId, { ...request, descending }),
          placeOf: ({ receivedAt, agentId, eventId }) => ({ at: receivedAt, id: `${agentId}/${eventId}` }),
        });
      }
    });

    it("of cache entries go on behind a place, the last used first", async () => {
      const { caches } = open();
      const projectId = newId("prj");
      const fields = { projectId, version: "v1", runId: newId("run"), state: "uploading", sizeBytes: 1 } as const;
      for (const [at, usedAt] of times.entries()) {
        const [key, blobId] = [`k${at}`, newId("cmd")];
        const moments = { createdAt: usedAt, usedAt, expiresAt: 100 };
        const entry = { ...fields, ...moments, cacheId: cacheIdOf(projectId, "v1", key), key, blobId, sha256: "ab" };
        await caches.begin(entry);
        await caches.store(entry, usedAt, 100);
      }
      await expectPages({
        page: (request) => caches.list(projectId, "", request),
        placeOf: ({ usedAt, cacheId }) => ({ at: usedAt, id: cacheId }),
      });
    });

    it("of secrets go on behind a name", async () => {
      const { secrets } = open();
      const projectId = newId("prj");
      const fields = { projectId, pipelineId: null, version: 1, keyId: "k1", sealed: "sealed" };
      const moments = { createdAt: 1, createdBy: "ann", updatedAt: 1, updatedBy: "ann" };
      for (const name of ["E", "B", "G", "A", "F", "C", "D"]) await secrets.create({ ...fields, ...moments, name });
      await expectPages({
        page: (request) => secrets.list({ projectId, pipelineId: null }, request),
        placeOf: ({ name }) => ({ at: name, id: name }),
      });
    });

    it("of approvals go on behind a place, in both directions", async () => {
      const { aggregates } = open();
      const [projectId, pipelineId] = [newId("prj"), newId("pl")];
      for (const at of times) {
        const aggregate = sampleAggregate({ pipelineId, plan: { ...planOf([[{}]]), projectId } });
        await aggregates.create(aggregate);
        await aggregates.save(saveOf(aggregate, {}, [sampleApproval(aggregate, { stage: 0 }, at)]));
      }
      for (const descending of [false, true]) {
        for (const only of [{ projectId }, { pipelineId }, { projectIds: [projectId] }]) {
          await expectPages({
            page: (request) => aggregates.listApprovals({ ...only, status: "pending" }, { ...request, descending }),
            placeOf: ({ actor }) => ({ at: (actor.state as { requestedAt: number }).requestedAt, id: actor.id }),
          });
        }
      }
    });

    it("of dead letters go on behind a place", async () => {
      const { deadLetters } = open();
      const ids = times.map((at) => ({ at: 10 + at, id: newId("run") }));
      const to = { kind: "run", id: newId("run") } as never;
      for (const { at, id } of ids) {
        await deadLetters.insert({ id, at, shard: 0, rootId: id, letter: { to, message: {} }, reason: "test" });
      }
      const isOurs = ({ id }: { id: string }) => ids.some((one) => one.id === id);
      for (const descending of [false, true]) {
        const all = (await deadLetters.list({ offset: 0, limit: 1_000, descending })).filter(isOurs);
        const after = { at: all[2]!.at, id: all[2]!.id };
        const rest = (await deadLetters.list({ offset: 0, limit: 1_000, descending, after })).filter(isOurs);
        expect(rest).to.deep.equal(all.slice(3));
      }
    });

    it("count no further than they must", () => {
      expect(COUNTED_AT_MOST).to.equal(10_001);
      expect(isTooDeep({ page: 1_002, pageSize: 100, descending: true })).to.equal(true);
      expect(isTooDeep({ page: 1_001, pageSize: 100, descending: true })).to.equal(false);
      expect(isTooDeep({ page: 9_999, pageSize: 100, descending: true, after: { at: 1, id: "" } })).to.equal(false);
    });
  });
}
