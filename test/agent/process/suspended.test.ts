/**
 * An agent and its steps that were stopped together, as on a suspended machine or in a stopped container: after the
 * return, a step goes on only when the control plane has confirmed it.
 */
import type { ChildProcess } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { until } from "../../support/until.ts";
import { AgentBench, processesWith } from "../test-agent.ts";

/** How long everything is stopped; longer than the shortest jump that counts. */
const STOPPED_MS = 2_300;
/** A step writes a line for each of its loops. After the return it may do so for this long. */
const LEFT_MS = 1_000;

describe("an agent that was stopped together with its steps", function () {
  this.timeout(60_000);
  let bench: AgentBench;
  let agent: ChildProcess;
  let clock: string;
  let text: string;

  beforeEach(async () => {
    bench = await new AgentBench().open();
    clock = join(bench.dataDir, "clock-offset");
    text = `beat-${process.pid}-${Date.now()}`;
    await writeFile(clock, "0");
    // Both processes of the agent that read clocks load this module.
    const shift = `
      import { readFileSync } from "node:fs";
      const now = Date.now;
      Date.now = () => now() + Number(readFileSync(${JSON.stringify(clock)}, "utf8") || 0);`;
    agent = await bench.spawn([`data:text/javascript,${encodeURIComponent(shift)}`]);
  });
  afterEach(() => bench.end());

  const ledger = (name = "beats") => join(bench.dataDir, name);
  /** Times of the lines that a step has written, in Unix milliseconds. */
  async function beats(name?: string): Promise<readonly number[]> {
    const lines = await readFile(ledger(name), "utf8").catch(() => "");
    return lines
      .trim()
      .split("\n")
      .filter(Boolean)
      .map((line) => Number(line.slice(0, 13)));
  }
  const beating = (name = "beats") => `while :; do date +%s%3N >> ${ledger(name)}; sleep 0.005; done`;

  /** All processes of the agent: itself, its launcher, its guard, and those of the steps; the steps' come first. */
  async function tree(): Promise<readonly number[]> {
    const pids = (await readdir("/proc")).map(Number).filter(Number.isInteger);
    const own = [agent.pid!, ...(await processesWith("", agent.pid))];
    const steps: number[] = [];
    for (const pid of pids) {
      const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
      if (environment.includes("MILLRACE_STEP_MARK=") && environment.includes(text)) steps.push(pid);
    }
    return [...steps, ...own];
  }

  async function start(script: string, leaseMs: number): Promise<void> {
    bench.gateway.dispatch({ script, leaseMs: BigInt(leaseMs), env: [{ name: "TEXT", value: text }] });
    await until("beats", async () => (await beats()).length > 5);
  }

  /** Stops all processes, in rounds, since steps fork; continues them after some time, the steps first. */
  async function stopAll(): Promise<number> {
    const stopped = new Set<number>();
    for (let round = 0; round < 3; round++) {
      for (const pid of await tree()) {
        signal(pid, "SIGSTOP");
        stopped.add(pid);
      }
    }
    await sleep(STOPPED_MS);
    const returnedAt = Date.now();
    for (const pid of stopped) signal(pid, "SIGCONT");
    return returnedAt;
  }
  function signal(pid: number, name: NodeJS.Signals): void {
    try {
      process.kill(pid, name);
    } catch {
      // The process has ended meanwhile.
    }
  }
  /** Resolves when the steps have written nothing for a while; answers the last beat. */
  async function lastBeat(name?: string): Promise<number> {
    let [count, since] = [-1, performance.now()];
    await until("silence", async () => {
      const now = (await beats(name)).length;
      if (now !== count) [count, since] = [now, performance.now()];
      return performance.now() - since > 400;
    });
    return (await beats(name)).at(-1)!;
  }

  it("continues its step only after a heartbeat that was sent since then is acknowledged", async () => {
    const outside = `setsid sh -c '${beating("outside")}' &`;
    // Without its mark, a process is found by the isolation of its step alone.
    const isFound = bench.gateway.registrations[0]!.labels["step-isolation"] !== "mark";
    const names = ["beats", "outside", ...(isFound ? ["hidden"] : [])];
    const hidden = isFound ? `setsid env -i sh -c '${beating("hidden")}' &` : "";
    await start(`${outside} ${hidden} ${beating()}`, 30_000);
    bench.gateway.acknowledgesHeartbeats = false;
    const returnedAt = await stopAll();
    for (const name of names) {
      const leftMs = (await lastBeat(name)) - returnedAt;
      expect(leftMs, `how long ${name} ran on, ms`).to.be.below(LEFT_MS);
    }
    const before = await Promise.all(names.map(async (name) => (await beats(name)).length));
    bench.gateway.acknowledgesHeartbeats = true;
    for (const [index, name] of names.entries())
      await until(`${name} again`, async () => (await beats(name)).length > before[index]! + 3);
    expect(bench.gateway.reports.map(({ phase }) => phase)).to.deep.equal(["STEP_PHASE_STARTED"]);
  });

  it("ends its step when the lease is over, before the step does anything more than for a moment", async () => {
    await start(beating(), 1_000);
    bench.gateway.acknowledgesHeartbeats = false;
    const returnedAt = await stopAll();
    const leftMs = (await lastBeat()) - returnedAt;
    expect(leftMs, "how long the step ran on, ms").to.be.below(LEFT_MS);
    bench.gateway.acknowledgesHeartbeats = true;
    expect(await bench.gateway.endOf()).to.include({ phase: "STEP_PHASE_LOST" });
    await until("the end of its processes", async () => (await processesWith(ledger())).length === 0);
  });

  it("treats a wall clock that is set ahead alike, and takes no notice of one that is set back; a refused step never goes on", async () => {
    await start(beating(), 30_000);
    await writeFile(clock, String(-3_600_000));
    const count = (await beats()).length;
    await until("beats after the clock was set back", async () => (await beats()).length > count + 60);
    bench.gateway.acknowledgesHeartbeats = false;
    await writeFile(clock, String(3_600_000));
    const setAt = Date.now();
    expect((await lastBeat()) - setAt).to.be.below(LEFT_MS);
    // A step that arrives now begins only with the others.
    bench.gateway.dispatch({ script: "echo late", stepRunId: "step_2", jobId: "job_2", leaseMs: 30_000n });
    await sleep(300);
    expect(bench.gateway.reports.map(({ stepRunId }) => stepRunId)).to.deep.equal(["step_1"]);
    const before = (await beats()).length;
    // The control plane has given the first step to another agent meanwhile, and says so before it acknowledges.
    bench.gateway.send({ $case: "refuse", value: { stepRunId: "step_1", token: 1n } });
    bench.gateway.acknowledgesHeartbeats = true;
    expect((await bench.gateway.endOf("step_2")).phase).to.equal("STEP_PHASE_SUCCEEDED");
    await until("the end of its processes", async () => (await processesWith(ledger())).length === 0);
    expect((await beats()).length).to.equal(before);
  });

  it("can be asked to end while its steps wait, and leaves no process", async () => {
    await start(beating(), 30_000);
    bench.gateway.acknowledgesHeartbeats = false;
    await writeFile(clock, String(3_600_000));
    await lastBeat();
    bench.gateway.dispatch({ script: "echo never", stepRunId: "step_2", jobId: "job_2", leaseMs: 30_000n });
    bench.gateway.send({ $case: "revoke", value: revoke("step_1") });
    await sleep(100);
    bench.gateway.send({ $case: "revoke", value: revoke("step_2") });
    expect((await bench.gateway.endOf()).phase).to.equal("STEP_PHASE_CANCELLED");
    expect((await bench.gateway.endOf("step_2")).phase).to.equal("STEP_PHASE_CANCELLED");
    expect(await processesWith(ledger())).to.deep.equal([]);
  });

  const revoke = (stepRunId: string) => {
    return { stepRunId, jobId: stepRunId.replace("step", "job"), token: 1n, graceMs: 200n, reason: "asked for" };
  };

  it("leaves no process when it is killed while its steps wait", async () => {
    await start(beating(), 30_000);
    bench.gateway.acknowledgesHeartbeats = false;
    await writeFile(clock, String(3_600_000));
    await lastBeat();
    for (const pid of [...(await processesWith("launcher-main", agent.pid)), agent.pid!]) signal(pid, "SIGKILL");
    await until("the end of its processes", async () => (await processesWith(ledger())).length === 0, 3_000);
  });
});
