/**
 * A backup that is older than the work of agents that still run: after the restore every epoch and every fencing token
 * is new, so nothing that belongs to the forgotten time is taken for work of the restored installation.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { EmbeddedInstallation } from "../support/embedded.ts";
import { ProcessWorld } from "../support/processes.ts";
import { until } from "../support/until.ts";
import { stateText } from "../../src/stores/format/packed-states.ts";
import type { JobState } from "../../actors/job/state.ts";
import { SqliteConnection } from "../../src/sqlite/connection.ts";

const JOBS = 3;

describe("the tokens and epochs of an installation restored from an older backup", function () {
  this.timeout(100_000);
  let world: ProcessWorld;
  before(async () => void (world = await ProcessWorld.create()));
  after(() => world?.end());

  const file = (name: string) => join(world.folder, name);

  it("are never those of the time that the backup does not know", async () => {
    const installation = await EmbeddedInstallation.create(world);
    await installation.serve(file("first"));
    const script = `
      echo "begun $$" >> "${file("ledger")}"
      until [ -e "${file("go")}" ]; do echo "line of $$"; sleep 0.05; done
      echo "ended $$" >> "${file("ledger")}"
      echo "last line of $$"`;
    const pipeline = await installation.pipeline("waiting", [
      {
        name: "job",
        agentSelector: { matchLabels: { name: "late" } },
        agentLeaseTimeout: "10s",
        retry: { attempts: 3, on: ["agent_lost"] },
        steps: [{ name: "step", uses: "shell", args: { script } }],
      },
    ]);
    const runIds: string[] = [];
    for (let n = 0; n < JOBS; n++) runIds.push((await installation.api.trigger(pipeline, {})).runId);
    await millrace("backup", file("backup"), "--data-dir", file("first"));

    await installation.agent("late");
    await running();
    const before = givenIn("first");
    expect(before.tokens).to.have.length(JOBS);
    const old = (await ledger()).map((line) => line.replace("begun ", ""));
    installation.node.kill("SIGKILL");
    await installation.node.exited;

    await millrace("restore", file("backup"), "--data-dir", file("second"));
    await installation.serve(file("second"));
    await until("the jobs begin again", async () => (await ledger()).length === 2 * JOBS, 40_000);
    await running();
    const after = givenIn("second");
    expect(after.tokens.length).to.be.at.least(JOBS);
    expect(Math.min(...after.tokens), "every token is above all former ones").to.be.greaterThan(
      Math.max(...before.tokens),
    );
    expect(Math.min(...after.epochs), "so is every epoch").to.be.greaterThan(Math.max(...before.epochs));

    await until("the agent has killed the work of the forgotten time", () => old.every((pid) => !isAlive(pid)), 20_000);
    await writeFile(file("go"), "");
    for (const runId of runIds)
      await until("the run ends", async () => (await installation.api.run(runId)).status === "success", 20_000);
    const ends = (await ledger()).filter((line) => line.startsWith("ended"));
    expect(ends, "each step ends once").to.have.length(JOBS);
    expect(ends.filter((line) => old.includes(line.replace("ended ", "")))).to.deep.equal([]);
    await until(
      "the last line of each log is stored, which may be after the run's end",
      () => linesIn("second").filter((line) => line.startsWith("last line of")).length === JOBS,
      20_000,
    );
    const lines = linesIn("second");
    const forgotten = lines.filter((line) => old.some((pid) => line.endsWith(` ${pid}`)));
    expect(forgotten, "no line of the forgotten time").to.deep.equal([]);
    await millrace("verify", "--data-dir", file("second"));

    async function running(): Promise<void> {
      for (const runId of runIds) {
        await until(
          "the step runs",
          async () => (await installation.api.run(runId)).jobs[0]!.steps[0]!.status === "running",
        );
      }
    }
  });

  async function millrace(...args: readonly string[]): Promise<void> {
    const started = world.start(args);
    expect((await started.exited).code, started.stderr + started.stdout).to.equal(0);
  }

  const ledger = async () => (await readFile(file("ledger"), "utf8").catch(() => "")).split("\n").filter(Boolean);

  /** All log lines that the store in this data directory has. */
  function linesIn(dataDir: string): readonly string[] {
    const store = new SqliteConnection(join(file(dataDir), "millrace.db"), { readonly: true });
    try {
      const chunks = store.prepare("SELECT body FROM log_chunks").all() as { body: string }[];
      return chunks.flatMap(({ body }) => (JSON.parse(body) as { content: string }[]).map(({ content }) => content));
    } finally {
      store.close();
    }
  }

  /** The tokens of all grants, and the epochs of all shards, as the store in this data directory has them. */
  function givenIn(dataDir: string): { readonly tokens: readonly number[]; readonly epochs: readonly number[] } {
    const store = new SqliteConnection(join(file(dataDir), "millrace.db"), { readonly: true });
    try {
      const jobs = store.prepare("SELECT root_id, id, state FROM actors WHERE kind = 'job'").all() as readonly {
        readonly root_id: string;
        readonly id: string;
        readonly state: string | Uint8Array;
      }[];
      const shards = store.prepare("SELECT epoch FROM shards").all() as readonly { readonly epoch: number }[];
      const tokens = jobs.map(({ root_id: rootId, id, state }) => {
        const job = JSON.parse(stateText(state, { rootId, id, jobId: null })) as Pick<JobState, "grant">;
        return job.grant?.token ?? 0;
      });
      return { tokens: tokens.filter((token) => token > 0), epochs: shards.map(({ epoch }) => epoch) };
    } finally {
      store.close();
    }
  }
});

function isAlive(pid: string): boolean {
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch {
    return false;
  }
}
