/** The agent over disconnections and restarts, and when it is killed or stopped. */
import { execFileSync } from "node:child_process";
import { availableParallelism, hostname } from "node:os";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { status } from "@grpc/grpc-js";
import { expect } from "chai";
import { MillraceError } from "../../../src/domain/errors.ts";
import { until } from "../../support/until.ts";
import { AgentBench, processesWith, sleepOf, TestAgent } from "../test-agent.ts";

describe("an agent and its connection", () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await new AgentBench().open();
  });
  afterEach(() => bench.end());

  const refusalOf = async (agent: Promise<unknown>): Promise<MillraceError> => {
    const error: unknown = await agent.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(MillraceError);
    return error as MillraceError;
  };

  it("registers once, with its own facts as labels, and keeps its identity private", async () => {
    const first = await bench.start({ labels: { team: "test", os: "overridden" } });
    await first.stop();
    await bench.start();
    expect(bench.gateway.registrations).to.have.length(1);
    expect(bench.gateway.registrations[0]).to.deep.include({ name: "tester", slots: 2 });
    const { labels, bootId } = bench.gateway.hellos[0]!;
    expect(labels).to.deep.equal({
      team: "test",
      os: "overridden",
      arch: process.arch,
      hostname: hostname(),
      cores: String(availableParallelism()),
      "step-isolation": bench.gateway.registrations[0]!.labels["step-isolation"]!,
    });
    expect(bootId).to.not.equal(bench.gateway.hellos[1]!.bootId);
    expect((await stat(join(bench.dataDir, "identity.json"))).mode & 0o777).to.equal(0o600);
  });

  it("sends no facts when they are switched off", async () => {
    await bench.start({ facts: false, labels: { team: "test" } });
    expect(bench.gateway.hellos[0]!.labels).to.deep.equal({ team: "test" });
    expect(bench.gateway.registrations[0]!.labels).to.deep.equal({ team: "test" });
  });

  it("starts no job while its disk is too full, and says so", async () => {
    await bench.start({ minFreeDisk: { bytes: Number.MAX_SAFE_INTEGER, percent: 100 } });
    const { takesNoJobs } = bench.gateway.hellos[0]!;
    expect(takesNoJobs).to.match(/^\d+ MiB of the agent's disk are free, less than \d+ MiB$/);
    await until("a heartbeat", () => bench.gateway.heartbeats.length > 0);
    expect(bench.gateway.heartbeats[0]!.takesNoJobs).to.match(/ MiB of the agent's disk are free/);
    bench.gateway.dispatch({ script: "true" });
    const end = await bench.gateway.endOf();
    expect(end).to.include({ phase: "STEP_PHASE_NOT_STARTED", startedAtMs: 0n });
    expect(end.reason).to.match(/ MiB of the agent's disk are free/);
  });

  it("registers again when its token is refused", async () => {
    await bench.start();
    bench.gateway.revokeTokens();
    bench.gateway.disconnect(status.UNAUTHENTICATED);
    await until("a second hello", () => bench.gateway.hellos.length === 2);
    expect(bench.gateway.registrations).to.have.length(2);
  });

  it("ends when its token is refused twice soon after it has registered: another agent has its name", async () => {
    const agent = await bench.start();
    for (const count of [2, 3]) {
      bench.gateway.revokeTokens();
      bench.gateway.disconnect(status.UNAUTHENTICATED);
      if (count < 3) await until("a hello", () => bench.gateway.hellos.length === count);
    }
    const { reason, message } = await refusalOf(agent.ended);
    expect(reason).to.equal("already_exists");
    expect(message).to.include('another agent registers as "tester" too').and.include("--name");
    expect(bench.gateway.registrations).to.have.length(2);
  });

  it("ends with a clear error when no token is accepted", async () => {
    expect(await refusalOf(new TestAgent(bench.options({ registrationToken: "wrong" })).ended)).to.include({
      reason: "unauthenticated",
      message: "the control plane refuses the registration token: unknown registration token",
    });
    const { registrationToken: _, ...withoutToken } = bench.options();
    expect((await refusalOf(new TestAgent(withoutToken).ended)).message)
      .to.match(/not registered yet/)
      .and.include("set MILLRACE_REGISTRATION_TOKEN");

    const registered = await bench.start();
    await registered.stop();
    bench.gateway.revokeTokens();
    expect((await refusalOf(new TestAgent(withoutToken).ended)).message).to.match(/refuses this agent's token/);
  });

  it("refuses options that cannot work", async () => {
    const cases = [
      { address: "gateway.example:9090" },
      { address: "127.0.0.1.example.org:9090" },
      { address: "localhost" },
      { slots: 0 },
      { name: "" },
    ];
    for (const options of cases) {
      const { reason } = await refusalOf(new TestAgent(bench.options(options)).ended);
      expect(reason, JSON.stringify(options)).to.equal("malformed_request");
    }
    const unencrypted = await refusalOf(new TestAgent(bench.options({ address: "gateway.example:9090" })).ended);
    expect(unencrypted.message).to.include("--security tls").and.include("--security plaintext");
  });

  it("is the only agent in its data directory", async () => {
    const first = await bench.start();
    const error = await refusalOf(new TestAgent(bench.options()).ended);
    expect(error.reason).to.equal("conflict");
    expect(error.message).to.include(`pid ${process.pid}`).and.include(bench.dataDir);
    await first.stop();
    await (await bench.start()).stop();
  });

  it("is the only agent in its data directory among processes, until it is killed", async () => {
    const child = await bench.spawn();
    const error = await refusalOf(new TestAgent(bench.options()).ended);
    expect(error.message).to.include(`pid ${child.pid}`);
    child.kill("SIGKILL");
    await until("the end of the process", () => child.signalCode !== null);
    await bench.start();
  });

  it("stays away for as long as the gateway asks it to", async () => {
    bench.gateway.comeBackMs = 1_500;
    const starting = bench.start();
    await until("the first hello", () => bench.gateway.hellos.length > 0);
    const sentAwayAt = performance.now();
    bench.gateway.comeBackMs = 0;
    await starting;
    expect(bench.gateway.hellos.length).to.equal(2);
    // The agent's own first wait is at most 200 ms.
    expect(performance.now() - sentAwayAt).to.be.greaterThan(1_400);
  });

  it("reports an end until it is acknowledged, over a restart of the gateway", async () => {
    bench.gateway.acknowledgesReports = false;
    await bench.start();
    bench.gateway.dispatch({ script: `${sleepOf(0.3)}; echo done` });
    await bench.gateway.reportOf("STEP_PHASE_STARTED");
    bench.gateway.stop();
    await until("the end of the step", async () => (await processesWith(sleepOf(0.3))).length === 0);
    bench.gateway.reports.length = 0;
    await bench.gateway.start();
    expect(await bench.gateway.endOf()).to.include({ phase: "STEP_PHASE_SUCCEEDED", lastLine: 1n });
    expect((await bench.gateway.logOf(1n)).map((line) => line.content)).to.deep.equal(["done"]);

    bench.gateway.reports.length = 0;
    bench.gateway.disconnect();
    await bench.gateway.endOf();
    const { held, heldJobIds } = bench.gateway.hellos.at(-1)!;
    expect(held).to.deep.equal([{ runId: "run_1", jobId: "job_1", stepRunId: "step_1", token: 1n }]);
    expect(heldJobIds).to.deep.equal(["job_1"]);

    bench.gateway.acknowledgesReports = true;
    bench.gateway.send({ $case: "acknowledge", value: { stepRunId: "step_1", token: 1n } });
    await until("a heartbeat without it", () => bench.gateway.heartbeats.at(-1)?.held.length === 0);
  });

  it("reports an end again without a disconnection", async () => {
    bench.gateway.acknowledgesReports = false;
    await bench.start();
    bench.gateway.dispatch({ script: "true" });
    await until(
      "a second report",
      () => bench.gateway.reports.filter(({ phase }) => phase !== "STEP_PHASE_STARTED")[1],
    );
  });

  it("reports running steps again after a disconnection", async () => {
    await bench.start();
    bench.gateway.dispatch({ script: sleepOf(67) });
    await bench.gateway.reportOf("STEP_PHASE_STARTED");
    bench.gateway.disconnect();
    await until("a second report", () => bench.gateway.reports.length === 2);
    const [first, again] = bench.gateway.reports;
    expect(again).to.deep.equal({ ...first, endedAtMs: again!.endedAtMs });
    expect(again!.endedAtMs >= first!.endedAtMs).to.equal(true);
  });

  it("numbers its heartbeats over all connections", async () => {
    await bench.start();
    await until("two heartbeats", () => bench.gateway.heartbeats.length >= 2);
    bench.gateway.disconnect();
    await until("a second hello", () => bench.gateway.hellos.length === 2);
    const before = bench.gateway.heartbeats.length;
    await until("two more", () => bench.gateway.heartbeats.length >= before + 2);
    const sequences = bench.gateway.heartbeats.map(({ sequence }) => Number(sequence));
    expect(sequences).to.deep.equal(sequences.map((_, index) => index + 1));
  });

  it("kills a step whose lease runs out while heartbeats are not acknowledged", async () => {
    await bench.start();
    bench.gateway.dispatch({ script: `trap '' TERM; echo up; ${sleepOf(68)}`, leaseMs: 600n });
    await bench.gateway.logOf(1n);
    await until("heartbeats that keep it alive", () => bench.gateway.heartbeats.length > 20);
    await until("the report of its start", () => bench.gateway.reports.length > 0);
    expect(bench.gateway.reports).to.have.length(1);
    bench.gateway.acknowledgesHeartbeats = false;
    const silentSince = performance.now();
    const end = await bench.gateway.endOf();
    expect(end).to.include({ phase: "STEP_PHASE_LOST", exitCode: -1 });
    expect(end.reason).to.include("lease of 600 ms");
    // The lease counts from the last acknowledged heartbeat, which was sent up to one interval earlier.
    expect(performance.now() - silentSince).to.be.within(400, 1_500);
    expect(await processesWith(sleepOf(68))).to.deep.equal([]);
  });

  it("kills a step whose lease runs out while the gateway is away, and reports it later", async () => {
    await bench.start();
    bench.gateway.dispatch({ script: `echo up; ${sleepOf(69)}`, leaseMs: 300n });
    await bench.gateway.logOf(1n);
    bench.gateway.stop();
    await until("the end of the step", async () => (await processesWith(sleepOf(69))).length === 0);
    await bench.gateway.start();
    expect(await bench.gateway.endOf()).to.include({ phase: "STEP_PHASE_LOST" });
  });

  it("leaves no process when it is killed, and reports the step as lost at its next start", async () => {
    const agent = await bench.spawn();
    bench.gateway.dispatch({
      script: `trap '' TERM HUP; ${sleepOf(70)} & setsid sh -c 'trap "" TERM; ${sleepOf(70)} & ${sleepOf(70)}' & echo $MILLRACE_STEP_MARK; ${sleepOf(70)}`,
    });
    const mark = (await bench.gateway.logOf(1n))[0]!.content;
    await until("all its processes", async () => (await processesWith(sleepOf(70))).length >= 4);
    agent.kill("SIGKILL");
    await until("the end of all of them", async () => (await processesWith(sleepOf(70))).length === 0, 2_000);
    await until("the end of its supervisor", async () => (await processesWith(mark)).length === 0);

    bench.gateway.reports.length = 0;
    await bench.start();
    expect(bench.gateway.hellos.at(-1)).to.deep.include({
      held: [{ runId: "run_1", jobId: "job_1", stepRunId: "step_1", token: 1n }],
      heldJobIds: [],
    });
    expect(await bench.gateway.endOf()).to.include({ phase: "STEP_PHASE_LOST", token: 1n });
    expect(await readdir(join(bench.dataDir, "work"))).to.deep.equal([]);

    bench.gateway.reports.length = 0;
    bench.gateway.dispatch({ script: "echo again > ../again" });
    expect(await bench.gateway.endOf()).to.include({ phase: "STEP_PHASE_LOST" });
    expect(await readdir(join(bench.dataDir, "work"))).to.deep.equal([]);
  });

  it("reports after a kill an end that was not acknowledged", async () => {
    bench.gateway.acknowledgesReports = false;
    const agent = await bench.spawn();
    bench.gateway.dispatch({ script: "exit 9" });
    const end = await bench.gateway.endOf();
    agent.kill("SIGKILL");
    await until("the end of the process", () => agent.signalCode !== null);
    bench.gateway.reports.length = 0;
    await bench.start();
    expect(await bench.gateway.endOf()).to.deep.equal(end);
  });

  it("lets its jobs end when it is stopped, and starts no others", async () => {
    const agent = await bench.start();
    bench.gateway.dispatch({ script: "echo up; while [ ! -e go ]; do sleep 0.02; done" });
    await bench.gateway.logOf(1n);
    const stopped = agent.stop();
    await until("the drain message", () => bench.gateway.received.includes("drain"));
    bench.gateway.dispatch({ script: "true", jobId: "job_2", stepRunId: "step_other" });
    expect(await bench.gateway.endOf("step_other")).to.include({ phase: "STEP_PHASE_LOST", startedAtMs: 0n });

    execFileSync("touch", [join(bench.dataDir, "work", "job_1", "go")]);
    expect((await bench.gateway.endOf()).phase).to.equal("STEP_PHASE_SUCCEEDED");
    bench.gateway.dispatch({ script: "echo last", stepRunId: "step_2" });
    expect((await bench.gateway.endOf("step_2")).phase).to.equal("STEP_PHASE_SUCCEEDED");
    bench.gateway.send({ $case: "release", value: { jobId: "job_1", succeeded: false } });
    await stopped;
    expect((await readFile(join(bench.dataDir, "journal.jsonl"), "utf8")).match(/"t":"settled"/g)).to.have.length(3);
  });

  it("announces its drain again after a reconnection", async () => {
    const agent = await bench.start();
    bench.gateway.dispatch({ script: "true" });
    await bench.gateway.endOf();
    const stopped = agent.stop();
    bench.gateway.disconnect();
    await until("the drain on the second stream", () => {
      const hello = bench.gateway.received.lastIndexOf("hello");
      return hello > 0 && bench.gateway.received.includes("drain", hello);
    });
    bench.gateway.send({ $case: "release", value: { jobId: "job_1", succeeded: false } });
    await stopped;
  });

  it("kills its steps after the drain timeout, and reports them as lost", async () => {
    const agent = await bench.start({ drainTimeoutMs: 100 });
    bench.gateway.dispatch({ script: `trap '' TERM; echo up; ${sleepOf(71)}` });
    await bench.gateway.logOf(1n);
    await agent.stop();
    expect(await bench.gateway.endOf()).to.include({ phase: "STEP_PHASE_LOST", lastLine: 1n });
    expect(await processesWith(sleepOf(71))).to.deep.equal([]);
  });

  it("asks its steps to end before the drain timeout, and reports them as lost", async () => {
    const agent = await bench.start({ drainTimeoutMs: 4_000 });
    bench.gateway.dispatch({ script: "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.02; done" });
    await bench.gateway.logOf(1n);
    const stoppedAt = performance.now();
    await agent.stop();
    expect(performance.now() - stoppedAt).to.be.within(3_000, 4_000);
    const end = await bench.gateway.endOf();
    expect(end).to.include({ phase: "STEP_PHASE_LOST", exitCode: 0 });
    expect(end.reason).to.equal("the agent was stopped before the step had ended");
    expect((await bench.gateway.logOf(end.lastLine)).at(-1)!.content).to.equal("bye");
    // The agent sends heartbeats until its goodbye.
    const said = bench.gateway.received.filter((kind) => kind !== "heartbeat");
    expect(said.slice(-2)).to.deep.equal(["report", "goodbye"]);
  });

  it("hands back a job that holds its slot without a running step", async () => {
    const agent = await bench.start({ drainTimeoutMs: 100 });
    bench.gateway.dispatch({ script: "true" });
    await bench.gateway.endOf();
    await agent.stop();
    expect(bench.gateway.received.at(-1)).to.equal("goodbye");
  });

  it("says no goodbye while an end is not acknowledged", async () => {
    bench.gateway.acknowledgesReports = false;
    const agent = await bench.start({ drainTimeoutMs: 100 });
    bench.gateway.dispatch({ script: "true" });
    await bench.gateway.endOf();
    await agent.stop();
    expect(bench.gateway.received).to.include("drain").and.not.include("goodbye");
  });

  it("waits until its last lines are stored, up to the drain timeout", async () => {
    const agent = await bench.start({ drainTimeoutMs: 6_000 });
    bench.gateway.storesLogs = false;
    bench.gateway.dispatch({ script: "echo late" });
    await bench.gateway.endOf();
    const stopped = agent.stop();
    bench.gateway.send({ $case: "release", value: { jobId: "job_1", succeeded: false } });
    const stoppedAt = performance.now();
    await until("more than the farewell", () => performance.now() - stoppedAt > 2_500);
    bench.gateway.storeLogsAgain();
    await stopped;
    expect(performance.now() - stoppedAt).to.be.below(4_000);
  });

  it("ends at once on the kill signal, whatever its drain timeout", async () => {
    const agent = await bench.start({ drainTimeoutMs: 3_600_000 });
    bench.gateway.dispatch({ script: `echo up; ${sleepOf(72)}` });
    await bench.gateway.logOf(1n);
    await agent.kill();
    expect((await bench.gateway.endOf()).phase).to.equal("STEP_PHASE_LOST");
  });

  it("ends even when the gateway has never answered", async () => {
    bench.gateway.stop();
    const agent = new TestAgent(bench.options());
    await agent.stop();
  });
});
