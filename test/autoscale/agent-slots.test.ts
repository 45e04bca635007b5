/** What an autoscaler has started: it is found again after a kill -9 at any moment, and nothing is started twice. */
import { type ChildProcess, spawn } from "node:child_process";
import { appendFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { AgentSlots } from "../../src/autoscale/agent-slots.ts";
import { abandon, processOf, startClaimed } from "../../src/autoscale/claimed-process.ts";
import { SILENT } from "../agent/test-agent.ts";
import { commandOf } from "../support/test-programs.ts";
import { until } from "../support/until.ts";

const MAIN = fileURLToPath(new URL("starter-main.ts", import.meta.url));
const COUNT = 6;
/** Each process says its name once, and lives until it is killed. */
const SCRIPT = 'echo "$SLOT $$" >>"$1"; exec sleep 600';

describe("the agents of an autoscaler", function () {
  this.timeout(60_000);
  let folder: string;
  let ledger: string;
  let starters: ChildProcess[];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-autoscale-"));
    ledger = join(folder, "ledger");
    starters = [];
    await appendFile(ledger, "");
  });
  afterEach(async () => {
    for (const starter of starters) starter.kill("SIGKILL");
    for (const { pid } of await entries()) if (isThere(pid)) process.kill(pid, "SIGKILL");
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  const command = (): [string, ...string[]] => ["/bin/sh", "-c", SCRIPT, "sh", ledger];
  const entries = async () =>
    (await readFile(ledger, "utf8"))
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.split(" ").map(Number))
      .map(([slot, pid]) => ({ slot: slot!, pid: pid! }));
  const open = (onEnded = () => {}) =>
    AgentSlots.open({
      dataDir: join(folder, "data"),
      command: command(),
      environmentOf: (slot) => ({ PATH: process.env["PATH"], SLOT: String(slot) }),
      log: SILENT,
      onEnded,
    });

  /** Starts agents in a process of its own, and kills that process when it has said `lines` lines. */
  async function startAndKill(lines: number): Promise<void> {
    const starter = spawn(process.execPath, [...commandOf(MAIN), join(folder, "data"), String(COUNT), ...command()], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    starters.push(starter);
    let said = 0;
    await new Promise<void>((resolve) => {
      starter.stdout.on("data", (chunk: Buffer) => {
        said += String(chunk).split("\n").length - 1;
        if (said < lines) return;
        starter.kill("SIGKILL");
        resolve();
      });
    });
    await until("the starter is dead", () => starter.signalCode !== null);
  }

  it("are as many as asked for after kills during their starts, each process once", async () => {
    for (const lines of [1, 2, 3]) await startAndKill(lines);
    const slots = open();
    try {
      while (slots.living().length < COUNT) slots.start();
      await until("all processes run", async () => living(await entries()).length === COUNT);
      const alive = living(await entries());
      expect(slots.living()).to.deep.equal(alive.map(({ slot }) => slot).toSorted((a, b) => a - b));
      expect(new Set(alive.map(({ slot }) => slot)).size, "one process for each slot").to.equal(COUNT);
      expect(await entries(), "no process was started and lost").to.have.length(COUNT);
      expect(() => open()).to.throw(/an autoscaler already runs on/);
      slots.stop(alive[0]!.slot);
      await until("the stopped one is gone", () => slots.living().length === COUNT - 1);
      expect(slots.start()).to.equal(alive[0]!.slot);
    } finally {
      slots.close();
    }
  });

  it("never begin under a claim that was abandoned, and are not confused with a later process of the same id", async () => {
    const claim = join(folder, "claim");
    expect(abandon(claim)).to.equal(true);
    expect(abandon(claim)).to.equal(true);
    const late = startClaimed({
      claim,
      command: command(),
      environment: { PATH: process.env["PATH"] },
      folder,
      output: 2,
    });
    const code = await new Promise((resolve) => late.once("exit", resolve));
    expect([code, await entries(), processOf(claim)]).to.deep.equal([75, [], undefined]);
    const own = join(folder, "own");
    const stat = await readFile(`/proc/${process.pid}/stat`, "utf8").catch(() => "");
    await appendFile(own, `${process.pid}\n${stat}`);
    expect(processOf(own)).to.equal(process.pid);
    expect(abandon(own)).to.equal(false);
    if (stat === "") return;
    const began = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]!;
    await appendFile(`${own}-earlier`, `${process.pid}\n${stat.replace(` ${began} `, " 1 ")}`);
    expect(processOf(`${own}-earlier`)).to.equal(undefined);
  });

  it("tell how they ended, with their output in a file", async () => {
    const ends: { code: number | null; logFile: string }[] = [];
    const failing = AgentSlots.open({
      dataDir: join(folder, "data"),
      command: ["/bin/sh", "-c", 'echo "cannot $1" >&2; exit 3', "sh", "start; $(id)"],
      environmentOf: () => ({ PATH: process.env["PATH"] }),
      log: SILENT,
      onEnded: (end) => ends.push(end),
    });
    expect(failing.start()).to.equal(1);
    await until("its end", () => ends.length === 1);
    expect(ends[0]!.code).to.equal(3);
    expect(await readFile(ends[0]!.logFile, "utf8")).to.equal("cannot start; $(id)\n");
    expect(failing.living()).to.deep.equal([]);
    failing.close();
  });
});

function living(entries: readonly { slot: number; pid: number }[]): readonly { slot: number; pid: number }[] {
  return entries.filter(({ pid }) => isThere(pid));
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
