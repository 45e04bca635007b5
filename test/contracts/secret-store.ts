/** The contract of the store of secrets. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { newId, type PipelineId } from "../../src/domain/ids.ts";
import type { SealedSecret, SecretKey } from "../../src/stores/ports/secrets.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

export function secretStoreContract(open: () => Stores): void {
  describe("secrets", () => {
    const sample = (fields: Partial<SealedSecret> = {}): SealedSecret => ({
      projectId: newId("prj"),
      pipelineId: null,
      name: "KEY",
      version: 1,
      keyId: "k1",
      sealed: `sealed ${newId("cmd")}`,
      createdAt: 1,
      createdBy: "ann",
      updatedAt: 1,
      updatedBy: "ann",
      ...fields,
    });
    const store = () => open().secrets;
    async function created(fields: Partial<SealedSecret> = {}): Promise<SealedSecret> {
      const secret = sample(fields);
      expect(await store().create(secret)).to.equal("created");
      return secret;
    }
    const listed = async ({ projectId, pipelineId }: SecretKey) =>
      (await store().list({ projectId, pipelineId }, { page: 1, pageSize: 100 })).list;
    const value = (sealed: string) => ({ keyId: "k2", sealed, updatedAt: 9, updatedBy: "bob" });

    it("have unique names in a project and in each of its pipelines", async () => {
      const ofProject = await created();
      const { projectId } = ofProject;
      const ofPipeline = await created({ projectId, pipelineId: newId("pl") });
      const other = await created({ projectId, pipelineId: newId("pl") });
      expect(await store().create({ ...ofPipeline, sealed: "another", version: 7 })).to.equal("exists");
      for (const secret of [ofProject, ofPipeline, other]) expect(await listed(secret)).to.deep.equal([secret]);
      expect(await listed(sample())).to.deep.equal([]);
    });

    it("are created by exactly one of many concurrent calls", async () => {
      const all = Array.from({ length: 10 }, () => sample({ projectId: sample().projectId }));
      const rivals = all.map((secret) => ({ ...secret, projectId: all[0]!.projectId }));
      const outcomes = await Promise.all(rivals.map((secret) => store().create(secret)));
      expect(outcomes.filter((outcome) => outcome === "created")).to.have.length(1);
      expect(await listed(rivals[0]!)).to.deep.equal([rivals[outcomes.indexOf("created")]]);
    });

    it("are listed by name, a page at a time", async () => {
      const { projectId } = sample();
      for (const name of ["c", "A", "b", "_d"]) await created({ projectId, name });
      await created({ projectId, pipelineId: newId("pl"), name: "of a pipeline" });
      const page = (at: number) => store().list({ projectId, pipelineId: null }, { page: at, pageSize: 3 });
      const [first, second] = await Promise.all([page(1), page(2)]);
      expect([...first.list, ...second.list].map(({ name }) => name)).to.deep.equal(["A", "_d", "b", "c"]);
      expect([first.total, second.total, second.list.length]).to.deep.equal([4, 4, 1]);
    });

    it("get the next version with each new value, and keep their creator", async () => {
      const secret = await created();
      expect(await store().replace(secret, value("second"))).to.deep.equal({
        ...secret,
        ...value("second"),
        version: 2,
      });
      const versions = await Promise.all(["3", "4", "5"].map((sealed) => store().replace(secret, value(sealed))));
      expect(versions.map((replaced) => replaced!.version)).to.have.members([3, 4, 5]);
      expect(await store().replace(sample(), value("missing"))).to.equal(undefined);
    });

    it("are found by name for a pipeline, its own and its project's", async () => {
      const pipelineId = newId("pl");
      const ofProject = await created();
      const { projectId } = ofProject;
      const own = await created({ projectId, pipelineId });
      const another = await created({ projectId, name: "OTHER" });
      await created({ projectId, pipelineId: newId("pl"), name: "OTHER" });
      await created({ pipelineId, name: "OTHER" });
      const find = (names: readonly string[], of: PipelineId = pipelineId) =>
        store().find({ projectId, pipelineId: of }, names);
      expect(await find(["KEY", "OTHER", "NONE"])).to.have.deep.members([ofProject, own, another]);
      expect(await find(["KEY"], newId("pl"))).to.deep.equal([ofProject]);
      expect(await find(["key", "$where", ""])).to.deep.equal([]);
      expect(await find([])).to.deep.equal([]);
    });

    it("are deleted one by one, or all of a pipeline", async () => {
      const [one, other] = [await created(), await created()];
      expect(await store().delete(one)).to.equal(true);
      expect(await store().delete(one)).to.equal(false);
      expect([await listed(one), await listed(other)]).to.deep.equal([[], [other]]);
      const pipelineId = newId("pl");
      for (const name of ["A", "B"]) await created({ projectId: other.projectId, pipelineId, name });
      await store().deleteOfPipeline(pipelineId);
      expect(await listed({ ...other, pipelineId })).to.deep.equal([]);
      expect(await listed(other)).to.deep.equal([other]);
    });

    it("are resealed only while they have the value that was read", async () => {
      const secret = await created();
      expect(await store().reseal(secret, { keyId: "k2", sealed: "resealed" })).to.equal(true);
      expect(await listed(secret)).to.deep.equal([{ ...secret, keyId: "k2", sealed: "resealed" }]);
      expect(await store().reseal(secret, { keyId: "k3", sealed: "late" })).to.equal(false);
      await store().delete(secret);
      const again = await created({ ...secret, sealed: "created again" });
      expect(await store().reseal(secret, { keyId: "k3", sealed: "late" })).to.equal(false);
      expect(await listed(secret)).to.deep.equal([again]);
    });

    it("are paged by not being under a master key, each once", async () => {
      const keyId = newId("cmd");
      const { projectId } = sample();
      const expected: SealedSecret[] = [];
      for (const pipelineId of [null, newId("pl"), newId("pl")]) {
        for (const name of ["A", "B"]) expected.push(await created({ projectId, pipelineId, name }));
      }
      const under = await created({ projectId, name: "C", keyId });
      const found: SealedSecret[] = [];
      for (let after: SecretKey | null = null; ;) {
        const page: readonly SealedSecret[] = await store().pageNotUnder(keyId, after, 4);
        found.push(...page);
        after = page.at(-1) ?? null;
        if (after === null) break;
      }
      const ours = found.filter((secret) => secret.projectId === projectId);
      expect(ours).to.have.deep.members(expected).and.not.deep.include(under);
      expect(ours).to.have.length(expected.length);
    });
  });
}
