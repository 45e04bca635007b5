/** The contract of the store of the images of runs. Run over each engine by `stores.test.ts`. */
import { expect } from "chai";
import { newId } from "../../src/domain/ids.ts";
import type { Stores } from "../../src/stores/ports/stores.ts";

export function runImageStoreContract(open: () => Stores): void {
  describe("the images of runs", () => {
    it("keep the first digest of each reference, also when agents tell theirs at the same time", async () => {
      const { runImages } = open();
      const [runId, other] = [newId("run"), newId("run")];
      const told = ["sha256:1", "sha256:2", "sha256:3"];
      const answers = await Promise.all(told.map((digest) => runImages.pin({ runId, image: "node:22", digest })));
      const [first] = answers;
      expect(told).to.include(first);
      expect(new Set(answers)).to.have.length(1);
      expect(await runImages.pin({ runId, image: "node:22", digest: "sha256:4" })).to.equal(first);
      const image = "registry.example:5000/a/b.c:1_2";
      expect(await runImages.pin({ runId, image, digest: "sha256:5" })).to.equal("sha256:5");
      expect(await runImages.pin({ runId: other, image, digest: "sha256:6" })).to.equal("sha256:6");
      expect((await runImages.of(runId)).toSorted((a, b) => a.image.localeCompare(b.image))).to.deep.equal([
        { runId, image: "node:22", digest: first },
        { runId, image, digest: "sha256:5" },
      ]);
      expect(await runImages.of(newId("run"))).to.deep.equal([]);
    });
  });
}
