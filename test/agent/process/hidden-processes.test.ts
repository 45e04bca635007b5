/** What a step hides from its agent: processes without the step's mark, group and session. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { descendantsOf } from "../../../src/agent/process/process-tree.ts";
import { until } from "../../support/until.ts";
import { AgentBench, processesWith, sleepOf } from "../test-agent.ts";

describe("a process that a step hides", () => {
  let bench: AgentBench;
  beforeEach(async () => (bench = await new AgentBench().open()));
  afterEach(() => bench.end());

  const hidden = (seconds: number) => `setsid env -i ${sleepOf(seconds)} >/dev/null 2>&1 &`;
  const areRunning = async (seconds: number) => (await processesWith(sleepOf(seconds))).length > 0;
  const kindOf = () => bench.gateway.registrations.at(-1)!.labels["step-isolation"];

  it("ends with the step, by its end, its timeout and its cancellation", async () => {
    await bench.start();
    expect(kindOf(), "by more than a mark").to.not.equal("mark");
    bench.gateway.dispatch({ script: hidden(71), stepRunId: "step_1" });
    expect(await bench.gateway.endOf("step_1")).to.include({ phase: "STEP_PHASE_SUCCEEDED" });
    expect(await areRunning(71)).to.equal(false);

    bench.gateway.dispatch({
      script: `${hidden(72)} sleep 60`,
      stepRunId: "step_2",
      timeoutMs: 500n,
      cancelGraceMs: 200n,
    });
    expect(await bench.gateway.endOf("step_2")).to.include({ phase: "STEP_PHASE_TIMED_OUT" });
    expect(await areRunning(72)).to.equal(false);

    const { token, jobId } = bench.gateway.dispatch({ script: `${hidden(73)} echo up; sleep 60`, stepRunId: "step_3" });
    await until("its processes", () => areRunning(73));
    bench.gateway.send({ $case: "revoke", value: { stepRunId: "step_3", token, jobId, graceMs: 0n, reason: "test" } });
    expect(await bench.gateway.endOf("step_3")).to.include({ phase: "STEP_PHASE_CANCELLED" });
    expect(await areRunning(73)).to.equal(false);
  });

  it("ends with the agent, also when it is stopped or killed", async () => {
    const agent = await bench.start();
    bench.gateway.dispatch({ script: `${hidden(74)} sleep 60` });
    await until("its process", () => areRunning(74));
    await agent.stop();
    expect(await areRunning(74)).to.equal(false);

    const killed = await bench.spawn();
    bench.gateway.dispatch({ script: `${hidden(75)} sleep 60`, stepRunId: "step_2" });
    await until("its process", () => areRunning(75));
    killed.kill("SIGKILL");
    await until("its end", async () => !(await areRunning(75)));
  });

  it("ends at the next start when all processes of the agent were killed at once", async () => {
    const killed = await bench.spawn();
    // The other kinds end with the parents of the steps, which are among the processes of the agent.
    if (kindOf() !== "cgroup") return;
    bench.gateway.dispatch({ script: `${hidden(76)} echo up; sleep 60` });
    await until("its process", () => areRunning(76));
    // The name of the cgroup begins with the name of the guard, which the guard and all watchers have as an argument.
    const [pid] = await processesWith(sleepOf(76));
    const cgroup = /\/millrace-[0-9a-f]{16}\/([0-9a-f-]{36})-/.exec(readFileSync(`/proc/${pid}/cgroup`, "utf8"))!;
    const others = await processesWith(cgroup[1]!);
    const gone = once(killed, "exit");
    const all = new Set([killed.pid!, ...descendantsOf(killed.pid!), ...others]);
    all.delete(pid!);
    // Stopped first, so that none of them sees the end of another.
    for (const signal of ["SIGSTOP", "SIGKILL"] as const) for (const each of all) send(each, signal);
    await gone;
    expect(await areRunning(76)).to.equal(true);
    await bench.start();
    expect(await areRunning(76)).to.equal(false);
  });
});

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended.
  }
}
