/** Whole programs whose steps run in real containers, where Podman can run them: `millrace run`, and an installation with a plugin. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { agentLabel } from "../../../src/agent/containers/job-containers.ts";
import { agentKeyOf } from "../../../src/agent/containers/open-engine.ts";
import { writePackage } from "../../../src/plugins/package.ts";
import { openTestEngine, SERVICE_IMAGE, TEST_IMAGE } from "../../support/container-engine.ts";
import { EmbeddedInstallation } from "../../support/embedded.ts";
import { fileOf, greeter } from "../../support/plugin-packages.ts";
import { ProcessWorld } from "../../support/processes.ts";
import { until } from "../../support/until.ts";

const engine = await openTestEngine();

if (engine !== undefined)
  describe("a program whose jobs have containers", function () {
    this.timeout(120_000);
    let world: ProcessWorld;
    let env: Readonly<Record<string, string>>;
    beforeEach(async () => {
      world = await ProcessWorld.create();
      const { CONTAINERS_CONF, DOCKER_HOST } = process.env;
      env = {
        MILLRACE_AGENT_CONTAINER_ENGINE: engine.kind,
        ...(CONTAINERS_CONF !== undefined && { CONTAINERS_CONF }),
        ...(DOCKER_HOST !== undefined && { DOCKER_HOST }),
      };
    });
    afterEach(() => world.end());

    /** The containers and networks of an agent. */
    const leftOf = async (dataDir: string): Promise<string> => {
      const filter = ["-q", "--filter", `label=${agentLabel(agentKeyOf(dataDir))}`];
      return (await engine.ask("ps", "-a", ...filter)) + (await engine.ask("network", "ls", ...filter));
    };

    it("is `millrace run`: steps share the container and reach the service of their job, and nothing is left", async () => {
      const steps = [
        'echo "in $(pwd) by $(readlink /proc/1/exe) with $OF_JOB"; echo made >file; touch /in-the-container',
        'cat file /in-the-container; wget -qO- "http://$MILLRACE_SERVICE_WEB_HOST:$MILLRACE_SERVICE_WEB_PORT/env" | grep TEXT; exit 3',
      ];
      const job = {
        name: "build",
        env: { OF_JOB: "a value" },
        container: TEST_IMAGE,
        services: {
          web: {
            image: SERVICE_IMAGE,
            env: { TEXT: "hello" },
            ports: [8080],
            health: { command: "wget -qO /dev/null http://127.0.0.1:8080/env", interval: "100ms", retries: 100 },
          },
        },
        steps: steps.map((script, at) => ({ name: `step${at}`, uses: "shell", args: { script } })),
      };
      const file = join(world.folder, "pipeline.json");
      await writeFile(file, JSON.stringify({ jobs: [job] }));
      const started = world.start(["run", file, "--verbose"], { cwd: world.folder, env });
      const { code } = await started.exited;
      const { stdout } = started;
      const workspace = /in (\S+) by \/bin\/busybox with a value/.exec(stdout)?.[1];
      expect(workspace, stdout + started.stderr).to.be.a("string");
      for (const line of ["build/step1 | made", "build/step1 | TEXT=hello"]) expect(stdout).to.include(line);
      expect(stdout).to.match(/step1 {2}failed .*exit code 3/);
      expect(code).to.equal(1);
      const agentDataDir = workspace!.slice(0, workspace!.indexOf("/work/"));
      expect(await leftOf(agentDataDir), "containers and networks").to.equal("");
      expect(await world.alive()).to.deep.equal([]);
    });

    it("is an installation: a plugin of the registry is planned and run in the image of its manifest", async () => {
      const installation = await EmbeddedInstallation.create(world);
      await installation.serve(join(world.folder, "data"));
      await installation.agent("one", undefined, env);
      const [manifest, ...files] = greeter("1.2.0", { script: 'cat; echo " by $(readlink /proc/1/exe)"' });
      const withImage = { ...JSON.parse(manifest!.content.toString()), image: TEST_IMAGE };
      const packed = await writePackage([fileOf("plugin.yaml", JSON.stringify(withImage)), ...files]);
      const pushed = await fetch(`http://${installation.node.http}/api/v1/plugins`, {
        method: "POST",
        headers: { authorization: `Bearer ${installation.adminToken}`, "content-type": "application/gzip" },
        body: new Uint8Array(packed),
      });
      expect(pushed.status, await pushed.text()).to.equal(200);
      const steps = [{ name: "greet", uses: "team/greet@1", args: { to: "Ann" } }];
      const pipelineId = await installation.pipeline("greets", [{ name: "greet", steps }]);
      const plan = (await installation.call("POST", `/pipelines/${pipelineId}/plan`, {})).body.detail;
      const [job] = plan.stages[0].jobs;
      expect(job.agents.matching.map(({ name }: { readonly name: string }) => name)).to.deep.equal(["one"]);
      expect(job.steps[0]).to.include({ uses: "team/greet@1.2.0" });
      const { runId } = await installation.api.trigger(pipelineId, {});
      const detailOf = async () => (await installation.call("GET", `/pipelines/runs/${runId}`)).body.detail;
      const detail = await until("the end of the run", async () => {
        const found = await detailOf();
        return found.endTime === null ? undefined : found;
      });
      const path = `/pipelines/${pipelineId}/runs/${runId}/steps/${detail.jobs[0].steps[0].stepRunId}/logs/text`;
      const log = await fetch(`http://${installation.node.http}/api/v1${path}`, {
        headers: { authorization: `Bearer ${installation.adminToken}` },
      });
      expect((await log.text()).trim().split("\n").at(-1)).to.equal('{"to":"Ann"} by /bin/busybox');
      expect(detail.status).to.equal("success");
      await until("the end of the container", async () => (await leftOf(join(world.folder, "agent-one"))) === "");
    });
  });
