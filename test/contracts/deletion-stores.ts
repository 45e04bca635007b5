/** The contracts of the stores of deletions. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { newId, type PipelineId, type ProjectId, type TenantId } from "../../src/domain/ids.ts";
import type { Area } from "../../src/domain/roles.ts";
import type { AreaDeletion } from "../../src/stores/ports/deletions.ts";
import { type DocumentOwner, ownerOf } from "../../src/stores/ports/documents.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { pipelineRecord } from "../support/pipelines.ts";
import { allPages, sampleAggregate } from "./samples.ts";

export function pipelineDeletionStoreContract(
  open: () => Pick<Stores, "aggregates" | "pipelineDeletions" | "pipelines">,
): void {
  describe("deletions of pipelines", () => {
    const noted = async (decided: boolean) => {
      const deletion = { pipelineId: newId("pl"), at: 5, by: "ann", decided };
      await open().pipelineDeletions.note(deletion);
      return deletion;
    };

    it("keep the first note, and are decided once", async () => {
      const { pipelineDeletions } = open();
      const deletion = await noted(false);
      const { pipelineId } = deletion;
      expect(await pipelineDeletions.find(pipelineId)).to.deep.equal(deletion);
      await pipelineDeletions.note({ ...deletion, at: 9, by: "bob", decided: true });
      await pipelineDeletions.note({ ...deletion, at: 9 });
      expect(await pipelineDeletions.find(pipelineId)).to.deep.equal({ ...deletion, decided: true });
      for (const _ of ["once", "again"]) expect(await pipelineDeletions.decide(pipelineId)).to.equal(true);
    });

    it("are withdrawn only before they are decided, and cannot be decided after that", async () => {
      const { pipelineDeletions } = open();
      const undecided = (await noted(false)).pipelineId;
      for (const _ of ["once", "again"]) expect(await pipelineDeletions.withdraw(undecided)).to.equal(true);
      expect(await pipelineDeletions.find(undecided)).to.equal(undefined);
      expect(await pipelineDeletions.decide(undecided)).to.equal(false);
      const decided = (await noted(true)).pipelineId;
      expect(await pipelineDeletions.withdraw(decided)).to.equal(false);
      expect(await pipelineDeletions.find(decided)).to.include({ decided: true });
    });

    it("are seen by the look-up of a pipeline for a new run once they are decided", async () => {
      const { pipelineDeletions, pipelines } = open();
      const { pipelineId, ...deletion } = await noted(false);
      expect(await pipelines.findToRun(pipelineId)).to.equal(undefined);
      const pipeline = pipelineRecord(pipelineId);
      await pipelines.create(pipeline);
      expect(await pipelines.findToRun(pipelineId)).to.deep.equal({ pipeline, isBeingDeleted: false });
      await pipelineDeletions.note({ ...deletion, pipelineId, decided: true });
      expect(await pipelines.findToRun(pipelineId)).to.deep.equal({ pipeline, isBeingDeleted: true });
      await pipelineDeletions.drop(pipelineId);
      expect(await pipelines.findToRun(pipelineId)).to.deep.equal({ pipeline, isBeingDeleted: false });
    });

    it("are seen by the creation of a run, where the store looks for them", async () => {
      const { aggregates } = open();
      for (const decided of [false, true]) {
        const run = sampleAggregate({ pipelineId: (await noted(decided)).pipelineId });
        expect(await aggregates.create(run)).to.equal(aggregates.seesDeletions ? "amidDeletion" : "created");
        expect(await aggregates.load(run.head.rootId)).to.deep.include({ head: run.head });
        expect(await aggregates.create(run)).to.equal("exists");
      }
      expect(await aggregates.create(sampleAggregate({ pipelineId: newId("pl") }))).to.equal("created");
    });

    it("have one outcome when they are decided and withdrawn at the same moment", async () => {
      const { pipelineDeletions } = open();
      for (let round = 0; round < 20; round++) {
        const { pipelineId } = await noted(false);
        const [decided, withdrawn] = await Promise.all([
          pipelineDeletions.decide(pipelineId),
          pipelineDeletions.withdraw(pipelineId),
        ]);
        expect(withdrawn, "either the one or the other").to.equal(!decided);
      }
    });

    it("are paged by the id of the pipeline until they are dropped", async () => {
      const { pipelineDeletions } = open();
      const ids: PipelineId[] = [];
      for (let n = 0; n < 5; n++) ids.push((await noted(n % 2 === 0)).pipelineId);
      const listed = async () => {
        const all = await allPages((after) =>
          pipelineDeletions.page(after, 2).then((page) => page.map(({ pipelineId }) => pipelineId)),
        );
        return all.filter((id) => ids.includes(id));
      };
      expect(await listed()).to.deep.equal(ids.toSorted());
      for (const id of ids) await pipelineDeletions.drop(id);
      expect(await listed()).to.deep.equal([]);
      await pipelineDeletions.drop(ids[0]!);
    });
  });
}

export function areaDeletionStoreContract(open: () => Pick<Stores, "pipelines" | "rights" | "secrets">): void {
  describe("deletions of projects and tenants", () => {
    const noted = async (area: { projectId: ProjectId } | { tenantId: TenantId }) => {
      const deletion = { area, name: "old", at: 5, by: "ann", emptiedAt: null };
      await open().rights.deletions.note(deletion);
      return deletion;
    };
    const all = (size = 2) => {
      const { deletions } = open().rights;
      return pagesOf((after) => deletions.page(after, size));
    };
    const found = async (area: Area) => (await all()).find((one) => ownerOf(one.area) === ownerOf(area));

    it("keep the first note, say whether something is left, and are dropped", async () => {
      const { deletions } = open().rights;
      const deletion = await noted({ projectId: newId("prj") });
      const { area } = deletion;
      await deletions.note({ ...deletion, by: "bob" });
      expect(await found(area)).to.deep.equal(deletion);
      await deletions.setEmptied(area, 9);
      expect(await found(area)).to.deep.equal({ ...deletion, emptiedAt: 9 });
      await deletions.note(deletion);
      expect(await found(area)).to.include({ emptiedAt: 9 });
      await deletions.setEmptied(area, null);
      expect(await found(area)).to.deep.equal(deletion);
      for (const _ of ["once", "again"]) await deletions.drop(area);
      expect(await found(area)).to.equal(undefined);
      await deletions.setEmptied(area, 1);
      expect(await found(area)).to.equal(undefined);
    });

    it("are paged by their areas, projects before tenants", async () => {
      const areas = [{ tenantId: newId("tnt") }, { projectId: newId("prj") }, { projectId: newId("prj") }];
      for (const area of areas) await noted(area);
      const own = new Set(areas.map((area) => ownerOf(area)));
      const listed = (await all()).map(({ area }) => ownerOf(area)).filter((owner) => own.has(owner));
      expect(listed).to.deep.equal([...own].toSorted());
    });

    it("remove the record of the project, which frees its name, and all its secrets", async () => {
      const { pipelines, secrets } = open();
      const tenantId = newId("tnt");
      const [projectId, kept] = [newId("prj"), newId("prj")];
      const project = { projectId, tenantId, name: "shop", createdAt: 1 };
      await pipelines.createProject(project);
      const sealed = {
        version: 1,
        keyId: "k",
        sealed: "s",
        createdAt: 1,
        createdBy: "a",
        updatedAt: 1,
        updatedBy: "a",
      };
      for (const owner of [projectId, kept]) {
        for (const pipelineId of [null, newId("pl")]) {
          await secrets.create({ projectId: owner, pipelineId, name: "KEY", ...sealed });
        }
      }
      expect(await pipelines.deleteProject(projectId)).to.equal(true);
      expect(await pipelines.deleteProject(projectId)).to.equal(false);
      expect(await pipelines.findProject(projectId)).to.equal(undefined);
      expect(await pipelines.createProject({ ...project, projectId: kept })).to.equal("created");
      await secrets.deleteOfProject(projectId);
      const left = (await secrets.pageNotUnder("other", null, 10_000)).map((secret) => secret.projectId);
      expect(left).to.not.include(projectId);
      expect(left.filter((one) => one === kept)).to.have.length(2);
    });
  });
}

async function pagesOf(page: (after: DocumentOwner | "") => Promise<readonly AreaDeletion[]>): Promise<AreaDeletion[]> {
  const found: AreaDeletion[] = [];
  for (;;) {
    const last = found.at(-1);
    const next = await page(last === undefined ? "" : ownerOf(last.area));
    if (next.length === 0) return found;
    found.push(...next);
  }
}
