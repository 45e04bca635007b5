/** Agents that end by themselves: after a number of jobs, or after a time without one. */
import { join } from "node:path";
import { expect } from "chai";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";

const LINES = 5_000;

describe("an agent that ends by itself", function () {
  this.timeout(60_000);
  let world: ProcessWorld;
  let installation: EmbeddedInstallation;
  before(async () => {
    world = await ProcessWorld.create();
    installation = await EmbeddedInstallation.create(world);
    await installation.serve(join(world.folder, "data"));
  });
  after(() => world?.end());

  const jobsOf = async (
    runId: string,
  ): Promise<{ status: string; attempt: number; steps: { stepRunId: string }[] }[]> =>
    (await installation.call("GET", `/pipelines/runs/${runId}?attempts=all`)).body.detail.jobs;
  const demand = async (...args: readonly string[]): Promise<string> => {
    const env = { MILLRACE_URL: `http://${installation.node.http}`, MILLRACE_TOKEN: installation.adminToken };
    const command = world.start(["agents", "demand", ...args], { env });
    expect(await command.exited, command.stderr).to.include({ code: 0 });
    return command.stdout;
  };
  const agentNamed = async (name: string) =>
    (await installation.call("GET", "/agents")).body.detail.list.find((one: { name: string }) => one.name === name);

  it("runs as many jobs as it was told, sends their whole logs, and leaves with status 0", async () => {
    const step = { uses: "shell", args: { script: `seq 1 ${LINES}` } };
    const jobs = Array.from({ length: 6 }, (_, at) => ({ name: `job-${at}`, steps: [step] }));
    const pipelineId = await installation.pipeline("many", jobs);
    const { runId } = await installation.api.trigger(pipelineId, {});
    expect(await demand("--project", "default"), "the table").to.match(
      /^JOBS +FOR +PROJECT +SELECTOR +ONLINE +OFFLINE +WHY\n6 +\d+s +default +any agent +0 of 0 match +0 match +\S.*\n$/,
    );
    expect(JSON.parse(await demand("--labels", "pool=none", "--json"))).to.deep.include({ waiting: 6 });
    const three = await installation.agent("three", undefined, {
      MILLRACE_AGENT_MAX_JOBS: "3",
      MILLRACE_AGENT_SLOTS: "2",
    });
    expect(await three.exited).to.include({ code: 0 });
    expect(await agentNamed("three")).to.include({ online: false, slots: 2 });
    const once = world.start(["agent", "--gateway", installation.grpc, "--once"], {
      env: {
        MILLRACE_REGISTRATION_TOKEN: "a-registration-token-for-this-test-only",
        MILLRACE_AGENT_NAME: "once",
        MILLRACE_AGENT_SLOTS: "4",
        MILLRACE_DATA_DIR: join(world.folder, "agent-once"),
      },
    });
    expect(await once.exited).to.include({ code: 0 });
    expect(await agentNamed("once")).to.include({ online: false, slots: 1 });
    const ended = await jobsOf(runId);
    // No job was begun and given back: each has one attempt.
    expect(ended.map(({ status, attempt }) => `${status} ${attempt}`).toSorted()).to.deep.equal([
      ...Array<string>(2).fill("queued 1"),
      ...Array<string>(4).fill("success 1"),
    ]);
    for (const { status, steps } of ended) {
      if (status !== "success") continue;
      const path = `/pipelines/${pipelineId}/runs/${runId}/steps/${steps[0]!.stepRunId}/logs/text`;
      const log = await fetch(`http://${installation.node.http}/api/v1${path}`, {
        headers: { authorization: `Bearer ${installation.adminToken}` },
      });
      expect((await log.text()).trimEnd().split("\n")).to.have.length(LINES);
    }
    const idle = await installation.agent("idle", undefined, { MILLRACE_AGENT_IDLE_EXIT: "1s" });
    expect(await idle.exited).to.include({ code: 0 });
    expect((await jobsOf(runId)).map(({ status }) => status)).to.deep.equal(Array(6).fill("success"));
    await until("it has left", async () => (await agentNamed("idle")).online === false);
  });

  it("is started by the autoscaler as jobs wait, never more than asked for, also after a kill -9", async () => {
    const autoscaler = () =>
      world.start(
        [
          "autoscale",
          "--labels",
          "pool=auto",
          "--max",
          "2",
          "--interval",
          "500ms",
          "--data-dir",
          join(world.folder, "auto"),
        ],
        {
          env: {
            MILLRACE_URL: `http://${installation.node.http}`,
            MILLRACE_TOKEN: installation.adminToken,
            MILLRACE_GATEWAY: installation.grpc,
            MILLRACE_REGISTRATION_TOKEN: "a-registration-token-for-this-test-only",
          },
        },
      );
    const step = { uses: "shell", args: { script: "sleep 0.5" } };
    const jobs = Array.from({ length: 4 }, (_, at) => ({
      name: `job-${at}`,
      agentSelector: { matchLabels: { pool: "auto" } },
      steps: [step],
    }));
    const pipelineId = await installation.pipeline("scaled", jobs);
    const first = autoscaler();
    const { runId } = await installation.api.trigger(pipelineId, {});
    await first.prints("an agent was started");
    first.kill("SIGKILL");
    await first.exited;
    const second = autoscaler();
    const ended = await until(
      "the end of the run",
      async () => {
        const found = await jobsOf(runId);
        return found.every(({ status }) => status === "success") ? found : undefined;
      },
      40_000,
    );
    expect(ended.map(({ attempt }) => attempt)).to.deep.equal([1, 1, 1, 1]);
    const { list } = (await installation.call("GET", "/agents")).body.detail;
    const names = list.flatMap(({ name }: { name: string }) => (name.startsWith("auto-") ? [name] : []));
    expect(names.toSorted()).to.deep.equal(["auto-1", "auto-2"]);
    await until("its agents have left", async () =>
      (await installation.call("GET", "/agents")).body.detail.list.every(({ online }: { online: boolean }) => !online),
    );
    second.kill("SIGTERM");
    expect(await second.exited).to.include({ code: 0 });
  });
});
