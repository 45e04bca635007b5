/**
 * Tests of the benchmark's measuring tools: statistics, step counts, operations in flight, child processes and CPU
 * times.
 */
import { expect } from "chai";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { ChildSteps } from "../../bench/measure/child-steps.ts";
import { cpuTime } from "../../bench/measure/cpu.ts";
import { keepInFlight } from "../../bench/measure/in-flight.ts";
import { median, percentile } from "../../bench/measure/percentiles.ts";
import { expectOnce } from "../../bench/measure/step-counts.ts";
import { STEPS_AT_ONCE } from "../../bench/measure/workloads.ts";

describe("the tools of the benchmark", () => {
  it("compute the median and percentiles of an unsorted sample", () => {
    expect(median([3, 1, 2])).to.equal(2);
    expect(median([10, 1, 2, 3])).to.equal(2.5);
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentile(hundred, 0.5)).to.equal(50);
    expect(percentile(hundred, 0.99)).to.equal(99);
    expect(percentile([7], 0.99)).to.equal(7);
    expect(percentile([], 0.5)).to.be.NaN;
  });

  it("report lost, doubled and unrequested steps with their ids", () => {
    expectOnce(
      ["a", "b"],
      new Map([
        ["a", 1],
        ["b", 1],
      ]),
    );
    expect(() => expectOnce(["a", "b"], new Map([["b", 1]]))).to.throw("1 lost: a");
    expect(() => expectOnce(["a"], new Map([["a", 2]]))).to.throw("1 ran more than once: a");
    expect(() => expectOnce([], new Map([["x", 1]]))).to.throw("1 not requested: x");
    expect(() => expectOnce(["a"], new Map(), new Error("late"))).to.throw("late; of the steps 1 lost: a");
  });

  it("keep the given number of operations in flight, and start none after a failure", async () => {
    let inFlight = 0;
    let most = 0;
    const started: number[] = [];
    await keepInFlight(20, 4, async (index) => {
      started.push(index);
      most = Math.max(most, ++inFlight);
      await Promise.resolve();
      inFlight--;
    });
    expect(started).to.deep.equal(Array.from({ length: 20 }, (_, index) => index));
    expect(most).to.equal(4);

    let after = 0;
    const failing = keepInFlight(20, 1, async (index) => {
      after++;
      if (index === 2) throw new Error("broken");
    });
    expect(await failing.catch((error: Error) => error.message)).to.equal("broken");
    expect(after).to.equal(3);
  });

  it("run at most 50 steps at once, count each step, and report a step that fails", async () => {
    const steps = new ChildSteps();
    const ids = Array.from({ length: STEPS_AT_ONCE + 10 }, (_, index) => `${index}`);
    const childrenBefore = childCount();
    const ends = ids.map((id) => steps.run({ id, command: ["true"] }));
    // Children that have ended are still counted, because this process has not waited for them yet.
    expect(childCount() - childrenBefore).to.equal(STEPS_AT_ONCE);
    await Promise.all(ends);
    await steps.run({ id: "0", command: ["true"] });
    const counts = steps.takeCounts();
    expect(counts.size).to.equal(ids.length);
    expect(counts.get("0")).to.equal(2);
    expect(steps.takeCounts().size).to.equal(0);
    const failure = await steps.run({ id: "bad", command: ["false"] }).catch((error: Error) => error.message);
    expect(failure).to.equal("the step bad ended with status 1");
  });

  const burn = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
  for (const [what, script] of [
    ["have ended", `sh -c '${burn}'; echo done; read -r _`],
    ["are running", `sh -c '${burn}; echo done; read -r _'; true`],
  ] as const) {
    it(`separate the CPU time of a process from that of its children that ${what}`, async () => {
      const child = spawn("sh", ["-c", script], { stdio: ["pipe", "pipe", "ignore"] });
      try {
        await once(child.stdout, "data");
        const { ownMs, childrenMs } = cpuTime(child.pid!);
        expect(childrenMs).to.be.greaterThan(20);
        expect(ownMs).to.be.lessThan(childrenMs);
      } finally {
        child.stdin.end();
        await once(child, "exit");
      }
      expect(() => cpuTime(child.pid!)).to.throw("ENOENT");
    });
  }
});

/** Children of this process, ended ones that were not waited for included. */
function childCount(): number {
  return readFileSync(`/proc/self/task/${process.pid}/children`, "latin1").split(" ").filter(Boolean).length;
}
