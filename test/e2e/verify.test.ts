/** `millrace verify` on an installation in real processes: beside its living node, and after it was damaged. */
import { join } from "node:path";
import { expect } from "chai";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";

describe("millrace verify", function () {
  this.timeout(90_000);
  let world: ProcessWorld;
  before(async () => void (world = await ProcessWorld.create()));
  after(() => world?.end());

  it("finds a living installation consistent, and names what was damaged", async () => {
    const dataDir = join(world.folder, "data");
    const installation = await EmbeddedInstallation.create(world);
    const node = await installation.serve(dataDir, { MILLRACE_QUOTAS: "project:default=10" });
    await installation.agent("one");
    const steps = [{ name: "step", uses: "shell", args: { script: "echo line" } }];
    const script = `until [ -e "${join(world.folder, "go")}" ]; do sleep 0.05; done`;
    const pipeline = await installation.pipeline("some", [
      { name: "first", steps, matrix: { axes: { n: [1, 2, 3] } } },
      { name: "second", needs: ["first"], steps: [{ name: "step", uses: "shell", args: { script } }] },
    ]);
    const waiting = await installation.pipeline("waiting", [
      { name: "never", agentSelector: { matchLabels: { name: "missing" } }, steps },
    ]);
    const { runId } = await installation.api.trigger(pipeline, {});
    await installation.api.trigger(waiting, {});
    await until("the second job runs", async () => {
      const { jobs } = await installation.api.run(runId);
      return jobs.at(-1)!.status === "running";
    });

    const verify = async (...args: readonly string[]) => {
      const started = world.start(["verify", "--data-dir", dataDir, ...args]);
      return { code: (await started.exited).code, stdout: started.stdout, stderr: started.stderr };
    };
    const beside = await verify("--json");
    expect(beside.code, beside.stdout + beside.stderr).to.equal(0);
    const { read, differences, skipped } = JSON.parse(beside.stdout);
    expect({ differences, skipped }).to.deep.equal({ differences: [], skipped: [] });
    expect(read).to.include({ aggregates: 2, offers: 1 });
    expect(read.places, "the place of the second job").to.equal(1);

    node.kill("SIGKILL");
    await node.exited;
    const store = new SqliteConnection(join(dataDir, "millrace.db"));
    const { owed } = store.prepare("SELECT owed FROM aggregates WHERE root_id = ?").get(runId) as { owed: string };
    const owedNumbers = (JSON.parse(owed) as { eventNumber: number | null }[]).map(({ eventNumber }) => eventNumber);
    const events = store.prepare("SELECT number FROM events WHERE run_id = ?").all(runId) as { number: number }[];
    const { number } = events.find((event) => !owedNumbers.includes(event.number))!;
    store.prepare("DELETE FROM events WHERE run_id = ? AND number = ?").run(runId, number);
    store.close();
    const damaged = await verify();
    expect(damaged, damaged.stderr).to.include({ code: 1, stderr: "" });
    expect(damaged.stdout).to.include(`events: ${runId} event ${number} is missing\n`);
    expect(damaged.stdout).to.include("not looked at: offers, places and ");
    expect((await world.start(["verify", "--data-dir", join(world.folder, "none")]).exited).code).to.equal(1);
  });
});
