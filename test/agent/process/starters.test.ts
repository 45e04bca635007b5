/** The starters of an agent: what they tell the launcher of their steps, with real processes. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect } from "chai";
import { Starters } from "../../../src/agent/process/starters.ts";
import { LocalKeeper, type StarterStep, type StepKeeper } from "../../../src/agent/process/step-keeper.ts";
import { UsageMeter } from "../../../src/agent/process/usage-meter.ts";
import { until } from "../../support/until.ts";
import { processesWith, sleepOf } from "../test-agent.ts";

describe("the starters of an agent", () => {
  let folder: string;
  let starters: Starters;
  let told: string[];
  let watched: StarterStep[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-starters-"));
    await writeFile(join(folder, "permit"), "");
    [told, watched] = [[], []];
    const local = new LocalKeeper(new UsageMeter());
    const keeper: StepKeeper = {
      watch(steps) {
        told.push("watch");
        watched.push(...steps);
        local.watch(steps);
      },
      kill(step) {
        told.push("kill");
        local.kill(step);
      },
      end(step, end) {
        told.push("end");
        return local.end(step, end);
      },
    };
    starters = new Starters({
      name: "a",
      cgroupFolder: undefined,
      keeper,
      onChange: () => {},
      onBusy: (isBusy) => told.push(isBusy ? "busy" : "idle"),
    });
  });
  afterEach(async () => {
    await starters.end();
    await rm(folder, { recursive: true });
  });

  const start = (script: string) =>
    starters.start(
      {
        command: ["sh", "-c", script],
        cwd: folder,
        env: { PATH: process.env["PATH"] ?? "" },
        stdout: "/dev/null",
        stderr: "/dev/null",
        leaseMark: `${basename(folder)};`,
        permitFile: join(folder, "permit"),
      },
      undefined,
    );

  it("tell nothing of short steps that leave nothing, but that steps run, and later that none does", async () => {
    // On a machine that has much to do, a short step may run for long, or many processes may begin meanwhile.
    await until("a step of which nothing is told", async () => {
      const before = told.length;
      const step = await start("exit 3");
      expect(await step.exited).to.include({ code: 3 });
      await step.gone;
      return told.length === before;
    });
    await until("the launcher knows that no step runs", () => told.includes("idle"));
    await (
      await start("true")
    ).gone;
    expect(told.filter((what) => what === "busy" || what === "idle")).to.deep.equal(["busy", "idle", "busy"]);
  });

  it("tell of a step that runs for a while, once, and at once when all steps have to be known", async () => {
    const long = await start(sleepOf(58));
    await until("the step is told", () => watched.length === 1);
    const young = await start(sleepOf(58));
    starters.watchAll();
    starters.watchAll();
    expect(new Set(watched.map(({ pid }) => pid)).size).to.equal(2);
    expect(watched).to.have.length(2);
    for (const step of [long, young]) step.kill();
    for (const step of [long, young]) {
      expect(await step.exited).to.include({ signal: "SIGKILL" });
      await step.gone;
    }
    expect(told.filter((what) => what === "end")).to.have.length(2);
    expect(await processesWith(sleepOf(58))).to.deep.equal([]);
  });

  it("have what a step leaves behind killed, before the step is gone", async () => {
    // Until it has a process group of its own, it ends with that of the step.
    const step = await start(`setsid sh -c 'touch apart; ${sleepOf(57)}' & until [ -e apart ]; do sleep 0.01; done`);
    await step.gone;
    expect(told).to.include("end");
    expect(await processesWith(sleepOf(57))).to.deep.equal([]);
  });
});
