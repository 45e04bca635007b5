/** A disk that fails one sync: the node ends and acknowledges nothing, and its next start goes on. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";

const PRELOADED = pathToFileURL(join(import.meta.dirname, "../support/failing-sync.mjs")).href;

describe("a node whose disk fails one sync", function () {
  this.timeout(60_000);
  let world: ProcessWorld;
  before(async () => void (world = await ProcessWorld.create()));
  after(() => world?.end());

  it("ends without an answer, and the next start finishes every run that was acknowledged", async () => {
    const [dataDir, fail] = [join(world.folder, "data"), join(world.folder, "fail")];
    const installation = await EmbeddedInstallation.create(world);
    const node = await installation.serve(dataDir, { FAIL_SYNC: fail, NODE_OPTIONS: `--import=${PRELOADED}` });
    const steps = [{ name: "step", uses: "shell", args: { script: "true" } }];
    const pipeline = await installation.pipeline("some", [{ name: "job", steps }]);
    const trigger = async (requestId: string): Promise<string> => {
      const { body } = await installation.call("POST", `/pipelines/${pipeline}/trigger`, { requestId });
      return body.detail.runId;
    };
    const runId = await trigger("before");

    await writeFile(fail, "");
    const answers: string[] = [];
    const asked = ["one", "two", "three"].map((requestId) =>
      trigger(requestId).then(
        () => answers.push(requestId),
        () => undefined,
      ),
    );
    const { code } = await node.exited;
    await Promise.all(asked);
    expect(code).to.equal(1);
    expect(node.process.stderr).to.match(/error: the store .* cannot be put on disk \(EIO\): this process ends/);
    expect(answers, "acknowledged after the sync had failed").to.deep.equal([]);

    await installation.serve(dataDir);
    await installation.agent("one");
    await until("the run ends", async () => (await installation.api.run(runId)).status === "success", 20_000);
    expect(await trigger("before"), "a repeat finds the run").to.equal(runId);
  });
});
