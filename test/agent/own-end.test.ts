/** When an agent ends by itself. */
import { expect } from "chai";
import { until } from "../support/until.ts";
import { OwnEnd } from "../../src/agent/own-end.ts";
import type { Timers } from "../../src/domain/clock.ts";
import { AgentBench } from "./test-agent.ts";

/** Timers that a test moves. */
class TestTimers implements Timers {
  #now = 0;
  readonly #due = new Set<{ readonly at: number; readonly run: () => void }>();

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + ms, run };
    this.#due.add(timer);
    return () => void this.#due.delete(timer);
  }

  pass(ms: number): void {
    this.#now += ms;
    for (const timer of this.#due) if (timer.at <= this.#now && this.#due.delete(timer)) timer.run();
  }
}

describe("an agent that ends by itself", () => {
  let timers: TestTimers;
  let said: string[];
  beforeEach(() => {
    timers = new TestTimers();
    said = [];
  });

  const ownEnd = (options: { readonly maxJobs?: number; readonly idleExitMs?: number }) =>
    new OwnEnd({
      ...options,
      timers,
      onDrain: (isFull) => said.push(isFull ? "full" : "idle"),
      onEnd: () => said.push("end"),
    });

  it("takes no more jobs as soon as it has begun the last one, and ends when it holds none", () => {
    const end = ownEnd({ maxJobs: 2 });
    end.open();
    end.jobBegins();
    end.jobEnds();
    expect([end.jobsLeft, said]).to.deep.equal([1, []]);
    end.jobBegins();
    expect([end.jobsLeft, said]).to.deep.equal([0, ["full"]]);
    end.jobEnds();
    timers.pass(1e9);
    expect(said).to.deep.equal(["full", "end"]);
  });

  it("ends after a time without a job, which begins with its connection and with the end of each job", () => {
    const end = ownEnd({ idleExitMs: 1_000 });
    timers.pass(5_000);
    end.open();
    timers.pass(999);
    end.jobBegins();
    timers.pass(5_000);
    end.jobEnds();
    timers.pass(999);
    expect([end.jobsLeft, said]).to.deep.equal([undefined, []]);
    timers.pass(1);
    expect(said).to.deep.equal(["idle"]);
    timers.pass(3_000);
    expect(said).to.deep.equal(["idle", "end"]);
  });

  it("finishes a job that was on its way when the time was over, and ends after it", () => {
    const end = ownEnd({ maxJobs: 5, idleExitMs: 1_000 });
    end.open();
    timers.pass(1_000);
    end.jobBegins();
    timers.pass(60_000);
    expect(said).to.deep.equal(["idle"]);
    end.jobEnds();
    expect(said).to.deep.equal(["idle", "end"]);
  });

  it("says nothing once it was stopped, and without a bound", () => {
    const stopped = ownEnd({ maxJobs: 1, idleExitMs: 1_000 });
    stopped.open();
    stopped.stop();
    const unbound = ownEnd({});
    unbound.open();
    unbound.jobBegins();
    unbound.jobEnds();
    timers.pass(1e9);
    expect(said).to.deep.equal([]);
  });
});

describe("an agent that runs one job, on a gateway", () => {
  let bench: AgentBench;
  beforeEach(async () => (bench = await new AgentBench().open()));
  afterEach(() => bench.end());

  it("is told apart from other agents by its slots and messages, and refuses a job too many", async () => {
    const { gateway } = bench;
    const agent = await bench.start({ maxJobs: 1, slots: 4 });
    expect(gateway.hellos[0]).to.deep.include({ slots: 1, jobsLeft: 1, takesNoJobs: "" });
    gateway.storesLogs = false;
    gateway.dispatch({ script: "echo one", jobId: "job_1", stepRunId: "step_1" });
    await until("the drain", () => gateway.received.includes("drain"));
    gateway.dispatch({ script: "echo two", jobId: "job_2", stepRunId: "step_2" });
    expect(await gateway.endOf("step_2")).to.include({ phase: "STEP_PHASE_LOST" });
    await gateway.endOf("step_1");
    // A later step of its job is none too many, also after another connection.
    gateway.disconnect();
    await until("the second hello", () => gateway.hellos.length === 2);
    expect(gateway.hellos[1]).to.deep.include({
      jobsLeft: 0,
      heldJobIds: ["job_1"],
      takesNoJobs: "it is about to end",
    });
    await until(
      "the drain on the second stream",
      () => gateway.received.lastIndexOf("drain") > gateway.received.lastIndexOf("hello"),
    );
    gateway.dispatch({ script: "echo three", jobId: "job_1", stepRunId: "step_3", stepIndex: 1 });
    await gateway.endOf("step_3");
    gateway.send({ $case: "release", value: { jobId: "job_1", succeeded: true } });
    const beats = gateway.heartbeats.length;
    await until("some heartbeats", () => gateway.heartbeats.length > beats + 3);
    expect(gateway.received, "the log is not stored yet").not.to.include("goodbye");
    gateway.storeLogsAgain();
    expect(await agent.ended).to.equal("finished");
    expect(gateway.received.at(-1)).to.equal("goodbye");
    expect((await gateway.logOf(1n, "step_3")).map(({ content }) => content)).to.deep.equal(["three"]);
  });

  it("ends as a stopped one when it is asked to end before", async () => {
    const agent = await bench.start({ maxJobs: 1, idleExitMs: 60_000 });
    expect(await agent.stop()).to.equal("stopped");
  });
});
