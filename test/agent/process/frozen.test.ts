/** An agent that is stopped, and its guard: no step outlives its lease, even if the agent cannot act. */
import { type ChildProcess, execFileSync } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { until } from "../../support/until.ts";
import { AgentBench, processesWith, sleepOf } from "../test-agent.ts";

const LEASE_MS = 1_000;
/** The guard adds up to 1.5 s to a lease; the control plane waits for 5 s. */
const GUARDED_MS = LEASE_MS + 3_000;

describe("an agent that is stopped", () => {
  let bench: AgentBench;
  let agent: ChildProcess;
  beforeEach(async () => {
    bench = await new AgentBench().open();
    agent = await bench.spawn();
  });
  afterEach(() => bench.end());

  /** Stops the agent with its process group, as Ctrl-Z does. */
  const freeze = () => process.kill(-agent.pid!, "SIGSTOP");
  const thaw = () => process.kill(-agent.pid!, "SIGCONT");
  const stateOf = (pid: number) => execFileSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" })[0];
  /** The process of the guard, without its timers; undefined when it is not running. */
  const guardOf = async () => (await processesWith("millrace-guard", agent.pid))[0];
  const launcherOf = async () => (await processesWith("launcher-main", agent.pid))[0]!;

  it("loses the steps whose lease runs out, with all their processes, and keeps the others", async () => {
    bench.gateway.dispatch({
      script: `trap '' TERM HUP; setsid sh -c 'trap "" TERM; ${sleepOf(81)} & env -i ${sleepOf(81)}' & echo up; ${sleepOf(81)}`,
      leaseMs: BigInt(LEASE_MS),
    });
    bench.gateway.dispatch({ script: `echo up; ${sleepOf(82)}`, stepRunId: "step_2", jobId: "job_2" });
    await bench.gateway.logOf(1n);
    await bench.gateway.logOf(1n, "step_2");
    await until("all processes", async () => (await processesWith(sleepOf(81))).length >= 4);
    freeze();
    const gone = async () => (await processesWith(sleepOf(81))).length === 0;
    await until("the end of the step", gone, GUARDED_MS);
    expect(stateOf(agent.pid!)).to.equal("T");
    expect(await processesWith(sleepOf(82))).to.have.length.above(0);
    expect(bench.gateway.reports.map(({ phase }) => phase)).to.not.include("STEP_PHASE_LOST");

    thaw();
    const end = await bench.gateway.endOf();
    expect(end).to.include({ phase: "STEP_PHASE_LOST", exitCode: -1, lastLine: 1n });
    expect(end.reason).to.include(`lease of ${LEASE_MS} ms`);
    bench.gateway.dispatch({ script: "echo again", stepRunId: "step_3", leaseMs: BigInt(LEASE_MS) });
    expect((await bench.gateway.endOf("step_3")).phase).to.equal("STEP_PHASE_SUCCEEDED");
    expect(await processesWith(sleepOf(82))).to.have.length.above(0);
  });

  it("keeps its steps when it continues in time", async () => {
    bench.gateway.dispatch({ script: "echo up; while [ ! -e go ]; do sleep 0.02; done", leaseMs: 2_000n });
    await bench.gateway.logOf(1n);
    freeze();
    const frozenAt = performance.now();
    await until("some time", () => performance.now() - frozenAt > 700);
    thaw();
    const beats = bench.gateway.heartbeats.length;
    await until("heartbeats for longer than the lease", () => bench.gateway.heartbeats.length > beats + 75);
    execFileSync("touch", [join(bench.dataDir, "work", "job_1", "go")]);
    expect((await bench.gateway.endOf()).phase).to.equal("STEP_PHASE_SUCCEEDED");
  });

  it("starts a step dispatched during the stop only after an acknowledged heartbeat", async () => {
    freeze();
    const frozenAt = performance.now();
    const step = { script: "echo begun >> ../begun", leaseMs: BigInt(LEASE_MS) };
    bench.gateway.acknowledgesHeartbeats = false;
    bench.gateway.dispatch(step);
    await until("the end of the lease", () => performance.now() - frozenAt > LEASE_MS + 200);
    const beats = bench.gateway.heartbeats.length;
    thaw();
    await until("heartbeats", () => bench.gateway.heartbeats.length > beats + 3);
    // Not even before the gateway has answered a heartbeat.
    bench.gateway.dispatch(step);
    await until("more heartbeats", () => bench.gateway.heartbeats.length > beats + 6);
    expect(bench.gateway.heartbeats.at(-1)).to.deep.include({ held: [], heldJobIds: [] });
    expect(bench.gateway.reports).to.deep.equal([]);
    expect(await readdir(join(bench.dataDir, "work"))).to.deep.equal([]);

    bench.gateway.acknowledgesHeartbeats = true;
    const answered = bench.gateway.heartbeats.length;
    await until("an answered heartbeat", () => bench.gateway.heartbeats.length > answered + 2);
    bench.gateway.dispatch(step);
    expect((await bench.gateway.endOf()).phase).to.equal("STEP_PHASE_SUCCEEDED");
    expect(await readFile(join(bench.dataDir, "work", "begun"), "utf8")).to.equal("begun\n");
  });

  it("gets another guard when its guard is killed, and its steps keep running", async () => {
    bench.gateway.dispatch({ script: `echo up; ${sleepOf(83)}`, leaseMs: 2_000n });
    await bench.gateway.logOf(1n);
    const killed = await until("the guard", guardOf);
    process.kill(killed, "SIGKILL");
    await until("another guard", async () => ![undefined, killed].includes(await guardOf()));
    const beats = bench.gateway.heartbeats.length;
    await until("heartbeats for longer than the lease", () => bench.gateway.heartbeats.length > beats + 75);
    expect(bench.gateway.reports.map(({ phase }) => phase)).to.deep.equal(["STEP_PHASE_STARTED"]);
    freeze();
    await until("the end of the step", async () => (await processesWith(sleepOf(83))).length === 0, 5_000);
  });

  it("leaves no process when it is killed, even if a step has stopped its own watcher or starter", async () => {
    const stop = "pkill -STOP -g $$ -f millrace-step || kill -STOP $PPID";
    bench.gateway.dispatch({ script: `${stop}; echo up; ${sleepOf(84)}` });
    await bench.gateway.logOf(1n);
    agent.kill("SIGKILL");
    await until("the end of the step", async () => (await processesWith(sleepOf(84))).length === 0, 2_000);
    await until("the end of the guard", async () => (await processesWith(bench.dataDir)).length === 0, 2_000);
  });

  it("leaves no process when it is killed together with its guard and its launcher", async () => {
    bench.gateway.dispatch({ script: `setsid ${sleepOf(85)} & echo $MILLRACE_STEP_MARK; ${sleepOf(85)}` });
    const mark = (await bench.gateway.logOf(1n))[0]!.content;
    await until("both processes", async () => (await processesWith(sleepOf(85))).length >= 2);
    for (const pid of [await guardOf(), await launcherOf(), agent.pid]) process.kill(pid!, "SIGKILL");
    await until("the end of the step", async () => (await processesWith(sleepOf(85))).length === 0, 2_000);
    const lease = mark.slice(0, mark.indexOf(";"));
    await until("the end of the supervisors", async () => (await processesWith(lease)).length === 0, 2_000);
  });

  it("loses its steps when its launcher is killed, and starts the next step by another launcher", async () => {
    bench.gateway.dispatch({ script: `setsid ${sleepOf(86)} & echo up; ${sleepOf(86)}` });
    await bench.gateway.logOf(1n);
    process.kill(await launcherOf(), "SIGKILL");
    const end = await bench.gateway.endOf();
    expect(end).to.include({ phase: "STEP_PHASE_LOST", exitCode: -1, lastLine: 1n });
    expect(end.reason).to.include("the process that starts the agent's steps has ended");
    expect(await processesWith(sleepOf(86))).to.deep.equal([]);
    bench.gateway.dispatch({ script: "echo again", stepRunId: "step_2" });
    expect((await bench.gateway.endOf("step_2")).phase).to.equal("STEP_PHASE_SUCCEEDED");
  });

  it("has no step when its launcher is killed meanwhile, long before the lease runs out", async () => {
    bench.gateway.dispatch({ script: `setsid ${sleepOf(87)} & echo up; ${sleepOf(87)}`, leaseMs: 60_000n });
    await bench.gateway.logOf(1n);
    freeze();
    process.kill(await launcherOf(), "SIGKILL");
    await until("the end of the step", async () => (await processesWith(sleepOf(87))).length === 0, 10_000);
    expect(stateOf(agent.pid!)).to.equal("T");
    thaw();
    expect(await bench.gateway.endOf()).to.include({ phase: "STEP_PHASE_LOST", exitCode: -1 });
    bench.gateway.dispatch({ script: "echo again", stepRunId: "step_2" });
    expect((await bench.gateway.endOf("step_2")).phase).to.equal("STEP_PHASE_SUCCEEDED");
  });
});
