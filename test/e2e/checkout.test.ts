/** The builtin `checkout` on a real agent of a real installation. */
import { join } from "node:path";
import { expect } from "chai";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { TestRepository } from "../support/git-server.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";

describe("a checkout", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    await installation.serve(join(world.folder, "data"));
    await installation.agent("one");
  });
  after(() => world?.end());

  const ended = async (pipelineId: string, variables: Readonly<Record<string, string>>) => {
    const { runId } = await installation.api.trigger(pipelineId, variables);
    return until(
      `the end of ${runId}`,
      async () => {
        const { detail } = (await installation.call("GET", `/pipelines/runs/${runId}`)).body;
        return detail.endTime === null ? undefined : { runId, ...detail };
      },
      60_000,
    );
  };

  it("fetches the run's ref and passes its commit to a later job", async () => {
    const code = new TestRepository(world.folder, "code");
    const first = code.commit("VERSION", "one\n");
    code.commit("VERSION", "two\n", "dev");
    const { pipelineId } = await installation.api.createPipeline("checkout", "");
    const spec = {
      source: { repo: code.url },
      jobs: [
        {
          name: "build",
          outputs: { commit: "${{ steps.code.outputs.commit }}", version: "${{ steps.read.outputs.version }}" },
          steps: [
            { id: "code", uses: "checkout" },
            {
              id: "read",
              uses: "shell",
              env: { REF: "${{ steps.code.outputs.ref }}" },
              args: { script: 'cat VERSION; echo "version=$(cat VERSION) of $REF" >> "$MILLRACE_OUTPUT"' },
            },
          ],
        },
        {
          name: "deploy",
          needs: ["build"],
          outputs: { commit: "${{ steps.code.outputs.commit }}" },
          steps: [
            { id: "code", uses: "checkout@v1", args: { ref: "${{ jobs.build.outputs.commit }}", path: "in" } },
            { uses: "shell", workingDirectory: "in", args: { script: "test -f VERSION && git log -1" } },
          ],
        },
      ],
    };
    await installation.api.saveSpec(pipelineId, spec);
    const main = await ended(pipelineId, {});
    expect(main.status, JSON.stringify(main.jobs)).to.equal("success");
    const outputsOf = async (runId: string) =>
      (await installation.call("GET", `/pipelines/runs/${runId}/outputs`)).body.detail;
    const outputs = JSON.stringify(await outputsOf(main.runId));
    expect(outputs).to.include("one of refs/heads/main");
    expect(outputs.split(first)).to.have.length(3);
    const dev = await ended(pipelineId, { ref: "dev" });
    expect(JSON.stringify(await outputsOf(dev.runId))).to.include("two of refs/heads/dev");
    const none = await ended(pipelineId, { ref: "deb" });
    expect(none.status).to.equal("failed");
    const [step] = none.jobs[0].steps;
    expect(step).to.include({ status: "failed", exitCode: 65 });
    expect(step.reason).to.equal("exit code 65: the repository has no such branch, tag or commit");
  });
});
