/** The contract of the store of pipelines and their revisions. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { asId, newId, type ProjectId, type RevisionId } from "../../src/domain/ids.ts";
import type { Pipeline, Revision } from "../../src/stores/ports/pipelines.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";
import { pipelineRecord } from "../support/pipelines.ts";

export function pipelineStoreContract(open: () => Stores): void {
  describe("pipelines", () => {
    const pipeline = (name: string, createdAt = 1): Pipeline =>
      pipelineRecord(newId("pl"), { name, createdAt, metadata: [["a.b", "$c"]] });
    const revision = (of: Pipeline): Revision => ({
      revisionId: newId("rev"),
      pipelineId: of.pipelineId,
      format: "yaml",
      text: "jobs: []\n# é\n",
      message: "",
      editor: "someone",
      actor: "someone",
      createdAt: 1,
    });

    it("have a unique name within the project", async () => {
      const [one, two] = [pipeline("one"), pipeline("one")];
      expect(await open().pipelines.create(one)).to.equal("created");
      expect(await open().pipelines.create(one)).to.equal("created");
      expect(await open().pipelines.create(two)).to.equal("nameTaken");
      const other = { ...two, name: "two" };
      expect(await open().pipelines.create(other)).to.equal("created");
      expect(await open().pipelines.update({ ...other, name: "one" })).to.equal("nameTaken");
      expect(await open().pipelines.update(pipeline("three"))).to.equal("missing");
    });

    it("are found by their whole name in all projects, the oldest first", async () => {
      const name = `Named ${newId("usr")}`;
      const [first, second] = [newId("prj"), newId("prj")].map((id) => {
        return { ...pipeline(name), projectId: asId<ProjectId>(id) };
      }) as [Pipeline, Pipeline];
      for (const one of [second, { ...pipeline(`${name}, too`) }, { ...pipeline(name.toUpperCase()) }, first]) {
        expect(await open().pipelines.create(one)).to.equal("created");
      }
      expect(await open().pipelines.named(name, 10)).to.deep.equal([first, second]);
      expect(await open().pipelines.named(name, 1)).to.deep.equal([first]);
      expect(await open().pipelines.named("", 1)).to.deep.equal([]);
    });

    it("keep their head and the fields of their creation through an update", async () => {
      const one = pipeline("keeps its head");
      await open().pipelines.create(one);
      const head = revision(one);
      expect(await open().pipelines.saveRevision(head, null)).to.equal("saved");
      const changed = { ...one, description: "new", createdBy: "forged", createdAt: 99 };
      expect(await open().pipelines.update(changed)).to.equal("updated");
      expect(await open().pipelines.find(one.pipelineId)).to.deep.equal({
        ...one,
        description: "new",
        headRevisionId: head.revisionId,
      });
    });

    it("know the commit of a head that is in Git, through updates, until the head is inline again", async () => {
      const one = pipeline("knows its commit");
      const { pipelineId } = one;
      await open().pipelines.create(one);
      const commit = {
        id: "c1",
        ref: "refs/heads/main",
        path: "p.yaml",
        blob: "b1",
        author: { name: "a", email: "a@example.org" },
        authoredAt: 1,
        committedAt: 2,
      };
      const [inGit, inline] = [{ ...revision(one), commit }, revision(one)];
      const headCommit = async () => (await open().pipelines.find(pipelineId))!.headCommit;
      expect(await headCommit()).to.equal(undefined);
      await open().pipelines.saveRevision(inGit, null);
      expect(await open().pipelines.findRevision(inGit.revisionId)).to.deep.equal(inGit);
      expect(await headCommit()).to.equal("c1");
      await open().pipelines.seeHeadCommit(pipelineId, inGit.revisionId, "c2");
      await open().pipelines.seeHeadCommit(pipelineId, inline.revisionId, "c3");
      await open().pipelines.update({ ...one, description: "new" });
      expect(await headCommit()).to.equal("c2");
      await open().pipelines.saveRevision(inline, inGit.revisionId);
      expect(await headCommit()).to.equal(undefined);
    });

    it("move their head only from the expected one", async () => {
      const one = pipeline("moves its head");
      await open().pipelines.create(one);
      const [first, second, stale] = [revision(one), revision(one), revision(one)];
      expect(await open().pipelines.saveRevision(first, null)).to.equal("saved");
      expect(await open().pipelines.saveRevision(first, null)).to.equal("saved");
      expect(await open().pipelines.saveRevision(stale, null)).to.equal("headMoved");
      expect(await open().pipelines.saveRevision(second, first.revisionId)).to.equal("saved");
      expect(await open().pipelines.findRevision(first.revisionId)).to.deep.equal(first);
      expect(await open().pipelines.findRevision(stale.revisionId)).to.equal(undefined);
      expect(await open().pipelines.saveRevision(revision(pipeline("gone")), null)).to.equal("missing");
    });

    it("keep an earlier head, also when its save is repeated after a newer one", async () => {
      const one = pipeline("repeats a save");
      await open().pipelines.create(one);
      const [first, second] = [revision(one), revision(one)];
      await open().pipelines.saveRevision(first, null);
      await open().pipelines.saveRevision(second, first.revisionId);
      expect(await open().pipelines.saveRevision(first, null)).to.equal("headMoved");
      expect(await open().pipelines.findRevision(first.revisionId)).to.deep.equal(first);
      expect(await open().pipelines.findRevision(second.revisionId)).to.deep.equal(second);
    });

    it("accept one of many concurrent revisions, and store none of the others", async () => {
      const one = pipeline("races for its head");
      await open().pipelines.create(one);
      const racers = Array.from({ length: 20 }, () => revision(one));
      const outcomes = await Promise.all(racers.map((racer) => open().pipelines.saveRevision(racer, null)));
      const [winner, ...others] = racers.filter((_, at) => outcomes[at] === "saved");
      expect(others).to.deep.equal([]);
      expect((await open().pipelines.find(one.pipelineId))!.headRevisionId).to.equal(winner!.revisionId);
      const found = await Promise.all(racers.map((racer) => open().pipelines.findRevision(racer.revisionId)));
      expect(found.filter((racer) => racer !== undefined)).to.deep.equal([winner]);
    });

    it("keep a revision beside the head until it is dropped, or the pipeline is deleted", async () => {
      const one = pipeline("keeps others beside its head");
      await open().pipelines.create(one);
      const { pipelineId } = one;
      const head = revision(one);
      await open().pipelines.saveRevision(head, null);
      const [dropped, kept] = [revision(one), revision(one)];
      for (const revision of [dropped, kept, kept]) await open().pipelines.keepRevision(revision);
      expect(await open().pipelines.findRevision(dropped.revisionId)).to.deep.equal(dropped);
      expect((await open().pipelines.find(pipelineId))!.headRevisionId).to.equal(head.revisionId);
      for (const _ of [1, 2]) await open().pipelines.dropRevision(dropped.revisionId);
      expect(await open().pipelines.findRevision(dropped.revisionId)).to.equal(undefined);
      expect(await open().pipelines.findRevision(kept.revisionId)).to.deep.equal(kept);
      await open().pipelines.delete(pipelineId);
      expect(await open().pipelines.findRevision(kept.revisionId)).to.equal(undefined);
    });

    it("list their revisions, newest first, without the definitions of ad hoc runs", async () => {
      const one = pipeline("lists revisions");
      await open().pipelines.create(one);
      const heads: Revision[] = [];
      for (let n = 0; n < 5; n++) {
        const next = { ...revision(one), revisionId: asId<RevisionId>(`rev_${one.pipelineId}_${n}`) };
        await open().pipelines.saveRevision(next, heads[0]?.revisionId ?? null);
        heads.unshift(next);
        const adHoc = asId<RevisionId>(`adh_${one.pipelineId}_${n}`);
        await open().pipelines.keepRevision({ ...revision(one), revisionId: adHoc });
      }
      const list = (before: RevisionId | null, limit: number) =>
        open().pipelines.listRevisions(one.pipelineId, before, limit);
      expect(await list(null, 2)).to.deep.equal({ revisions: heads.slice(0, 2), hasMore: true });
      expect(await list(heads[1]!.revisionId, 3)).to.deep.equal({ revisions: heads.slice(2), hasMore: false });
      expect(await list(null, 5)).to.deep.equal({ revisions: heads, hasMore: false });
      expect(await list(heads[4]!.revisionId, 5)).to.deep.equal({ revisions: [], hasMore: false });
    });

    it("lose their revisions when they are deleted", async () => {
      const one = pipeline("goes away");
      await open().pipelines.create(one);
      const [first, second] = [revision(one), revision(one)];
      await open().pipelines.saveRevision(first, null);
      await open().pipelines.saveRevision(second, first.revisionId);
      await open().pipelines.delete(one.pipelineId);
      expect(await open().pipelines.findRevision(first.revisionId)).to.equal(undefined);
      expect(await open().pipelines.findRevision(second.revisionId)).to.equal(undefined);
    });

    it("are listed, searched and deleted", async () => {
      const projectId = newId("prj");
      const made = ["beta", "Alpha (É)", "gamma"].map((name, at) => ({ ...pipeline(name, at), projectId }));
      for (const one of made) await open().pipelines.create(one);
      const request = { page: 1, pageSize: 2, descending: false, sort: "createdAt" as const };
      const page = await open().pipelines.list({ projectId }, request);
      expect([page.total, page.list.map(({ name }) => name)]).to.deep.equal([3, ["beta", "Alpha (É)"]]);
      const found = await open().pipelines.list({ projectId, name: "ALPHA (é" }, request);
      expect(found.list.map(({ name }) => name)).to.deep.equal(["Alpha (É)"]);
      expect(await open().pipelines.delete(made[0]!.pipelineId)).to.equal(true);
      expect(await open().pipelines.delete(made[0]!.pipelineId)).to.equal(false);
    });
  });
}
