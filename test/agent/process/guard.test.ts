/** The guard and the launcher, without an agent. */
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { systemClock } from "../../../src/domain/clock.ts";
import { Guard } from "../../../src/agent/process/guard.ts";
import { Launcher } from "../../../src/agent/process/launcher.ts";
import { until } from "../../support/until.ts";
import { processesWith, SILENT, sleepOf } from "../test-agent.ts";

describe("a guard", () => {
  let folder: string;
  let guard: Guard;
  let launcher: Launcher;
  let ranOut: number[];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-guard-"));
    launcher = new Launcher(SILENT);
    ranOut = [];
    const onRunOut = (lease: number) => void ranOut.push(lease);
    guard = new Guard({ folder, clock: systemClock, log: SILENT, onRunOut });
  });
  afterEach(async () => {
    await launcher.close();
    await guard.close();
    await rm(folder, { recursive: true });
  });

  const soon = () => systemClock.monotonic() + 500;
  const later = () => systemClock.monotonic() + 60_000;
  const startUnder = (lease: number, script: string) =>
    launcher.start({
      command: ["sh", "-c", script],
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "" },
      stdout: "/dev/null",
      stderr: "/dev/null",
      leaseMark: guard.markOf(lease),
      permitFile: guard.permitOf(lease),
    });
  const areRunning = async (seconds: number) => (await processesWith(sleepOf(seconds))).length > 0;

  it("kills the processes of a lease that runs out, and reports the lease", async () => {
    guard.open(1, later());
    guard.open(12, later());
    const doomed = await startUnder(1, `env -i ${sleepOf(91)}`);
    await startUnder(12, sleepOf(92));
    await until("both steps", async () => (await areRunning(91)) && (await areRunning(92)));
    // Not before: a lease that is over when its step begins stops the step from beginning.
    guard.renew(1, soon());
    expect(await doomed.exited).to.include({ code: null, signal: "SIGKILL" });
    await until("the word of the guard", () => ranOut.length > 0);
    expect(ranOut).to.deep.equal([1]);
    await until("the end of its processes", async () => !(await areRunning(91)));
    expect(await areRunning(92)).to.equal(true);
  });

  it("lets no step start under a lease that has run out, even when it is renewed too late", async () => {
    guard.open(1, soon());
    await until("the end of the lease", () => ranOut.length > 0);
    guard.renew(1, later());
    const late = await startUnder(1, "touch started");
    expect(await late.exited).to.include({ code: 125, obstacle: "permit" });
    expect(existsSync(join(folder, "started"))).to.equal(false);
  });

  it("keeps one timer for each lease, however often it is renewed, and none after its release", async () => {
    guard.open(7, later());
    for (let count = 0; count < 50; count++) guard.renew(7, later());
    guard.open(8, later());
    guard.release(7);
    guard.renew(8, soon());
    await until("the end of the other lease", () => ranOut.length > 0);
    expect(ranOut).to.deep.equal([8]);
    expect(existsSync(guard.permitOf(7))).to.equal(false);
    // What is left are the guard itself and the shell that kills the steps of the lease.
    await until("the end of all timers", async () => (await processesWith(folder)).length === 1);
  });

  it("removes no permit of another guard in the same folder", async () => {
    const other = new Guard({ folder, clock: systemClock, log: SILENT, onRunOut: () => {} });
    try {
      other.open(1, later());
      guard.open(1, soon());
      await until("the end of the lease", () => ranOut.length > 0);
      expect([guard.hasPermit(1), other.hasPermit(1)]).to.deep.equal([false, true]);
    } finally {
      await other.close();
    }
  });

  it("kills all processes of steps when it is closed", async () => {
    guard.open(1, later());
    const left = await startUnder(1, `setsid ${sleepOf(93)} & ${sleepOf(93)}`);
    await until("both processes", async () => (await processesWith(sleepOf(93))).length >= 2);
    await guard.close();
    await left.exited;
    expect(await processesWith(sleepOf(93))).to.deep.equal([]);
    expect(await processesWith(folder)).to.deep.equal([]);
  });
});
