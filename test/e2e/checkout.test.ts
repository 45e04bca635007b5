/** The builtin `checkout`, and definitions in Git, on a real agent of a real installation. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { BareRepository } from "../support/bare-repository.ts";
import { GitHttpServer, TestRepository } from "../support/git-server.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";

describe("a checkout", function () {
  this.timeout(120_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;

  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    await installation.serve(join(world.folder, "data"), { MILLRACE_GIT_NETWORKS: "127.0.0.0/8" });
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

  describe("of a pipeline whose definition is in Git", () => {
    let server: GitHttpServer;
    before(async () => {
      server = await new GitHttpServer(world.folder, { user: "ann", password: "deep-secret" }).start();
    });
    after(() => server.stop());

    const run = async (args: readonly string[], input = "") => {
      const env = { MILLRACE_URL: `http://${installation.node.http}`, MILLRACE_TOKEN: installation.adminToken };
      const started = world.start(args, { env, input });
      const { code } = await started.exited;
      return { code, said: started.stdout + started.stderr };
    };

    it("takes the commit of the run, or that of HEAD, with commands alone", async () => {
      const origin = new BareRepository(world.folder, "app");
      const path = ".millrace/pipeline.yaml";
      const script = 'test "$(git rev-parse HEAD)" = "$MILLRACE_COMMIT_SHA" && cat VERSION default/VERSION';
      const ofHead = "{ uses: checkout, args: { ref: HEAD, path: default } }";
      const textOf = (comment: string) =>
        `jobs: # ${comment}\n  - name: build\n    steps:\n      - uses: checkout\n      - ${ofHead}\n      - uses: shell\n        args:\n          script: ${script}\n`;
      const first = origin.commit({ [path]: textOf("one"), VERSION: "one\n" });
      origin.commit({ VERSION: "two\n" }, { branch: "next", onto: first });
      await run(["secrets", "set", "CODE"], "ann:deep-secret");
      const repo = ["--repo", `${server.origin}/app.git`, "--credential", "CODE"];
      const created = await run(["pipelines", "create", "app", ...repo, "--commit-statuses", "off", "--json"]);
      expect(created, created.said).to.include({ code: 0 });
      expect(created.said).to.match(/"commitStatuses":\s*"off"/);
      const chosen = await run(["pipelines", "statuses", "app", "default", "--json"]);
      expect(chosen.said).to.match(/"commitStatuses":\s*""/);
      expect((await run(["pipelines", "statuses", "app", "some"])).said).to.include("none of off, run, jobs, default");
      const check = await run(["pipelines", "check", "app"]);
      expect(check, check.said).to.include({ code: 0 });
      const next = await run(["trigger", "app", "--ref", "next", "--watch", "--logs"]);
      expect(next.code, next.said).to.equal(0);
      expect(next.said)
        .to.match(/two\n.*one\n/)
        .and.to.not.include("deep-secret");
      const file = join(world.folder, "new.yaml");
      await writeFile(file, textOf("one").replace("name: build", "name: test"));
      const stale = await run(["pipelines", "save", "app", file, "--head", "0".repeat(40)]);
      expect(stale.code, stale.said).to.equal(1);
      expect(stale.said).to.include(first);
      const saved = await run(["pipelines", "save", "app", file, "--head", first, "--message", "Rename it"]);
      expect(saved.code, saved.said).to.equal(0);
      expect(saved.said).to.include(origin.tip());
      expect(origin.git(["log", "--format=%s", "main"])).to.equal("Rename it\na change");
      expect((await run(["pipelines", "show", "app"])).said)
        .to.include("jobs: # one")
        .and.to.include("name: test");
      expect((await run(["pipelines", "show", "app", "--ref", first])).said).to.equal(textOf("one"));
      expect((await run(["pipelines", "move", "app", "inline"])).said).to.match(
        /^the definition of app is inline, at rev_/,
      );
    });
  });
});
