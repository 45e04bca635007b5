/** Steps from their dispatch to their last report, on a real agent with real processes. */
import { mkdir, readFile, readdir, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { Logger } from "../../src/domain/logger.ts";
import { until } from "../support/until.ts";
import { AgentBench, processesWith, sleepOf } from "./test-agent.ts";

describe("a step on an agent", () => {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await new AgentBench().open();
    await bench.start();
  });
  afterEach(() => bench.end());

  const textOf = async (lastLine: bigint, stepRunId?: string) =>
    (await bench.gateway.logOf(lastLine, stepRunId)).map((line) => line.content);

  it("is reported as started, then as succeeded with its last line", async () => {
    bench.gateway.dispatch({ script: "echo one\necho two\nsleep 0.2" });
    const end = await bench.gateway.endOf();
    expect(end).to.include({ phase: "STEP_PHASE_SUCCEEDED", exitCode: 0, reason: "", lastLine: 2n, token: 1n });
    expect(end.endedAtMs >= end.startedAtMs && end.startedAtMs > 0n).to.equal(true);
    expect(bench.gateway.reports.map((report) => report.phase)).to.deep.equal([
      "STEP_PHASE_STARTED",
      "STEP_PHASE_SUCCEEDED",
    ]);
    expect(await textOf(2n)).to.deep.equal(["one", "two"]);
  });

  it("has the time since its start, and no end, in the report of its start", async () => {
    bench.gateway.dispatch({ script: sleepOf(68) });
    const { startedAtMs, endedAtMs } = await bench.gateway.reportOf("STEP_PHASE_STARTED");
    expect(Number(endedAtMs - startedAtMs)).to.be.within(15, 5_000);
  });

  it("is reported once when it ends at once", async () => {
    for (let count = 0; count < 10; count++) {
      bench.gateway.dispatch({ argsJson: '{"command":"true"}', stepRunId: `step_${count}` });
      expect(await bench.gateway.endOf(`step_${count}`)).to.include({ phase: "STEP_PHASE_SUCCEEDED" });
    }
    // On a busy machine some steps may take longer, but not all of them.
    const starts = bench.gateway.reports.filter(({ phase }) => phase === "STEP_PHASE_STARTED");
    expect(starts).to.have.length.below(10);
    const reported = bench.gateway.reports.length;
    const beats = bench.gateway.heartbeats.length;
    await until("heartbeats for longer than a start is held back", () => bench.gateway.heartbeats.length > beats + 2);
    expect(bench.gateway.reports).to.have.length(reported);
  });

  it("fails with its exact exit code", async () => {
    for (const code of [1, 7, 126, 127, 255]) {
      bench.gateway.dispatch({ script: `exit ${code}`, stepRunId: `step_${code}` });
      const end = await bench.gateway.endOf(`step_${code}`);
      expect(end).to.include({ phase: "STEP_PHASE_FAILED", exitCode: code, reason: `exit code ${code}` });
    }
  });

  it("fails with the signal that ended it", async () => {
    for (const signal of ["KILL", "SEGV", "TERM"]) {
      bench.gateway.dispatch({ script: `kill -${signal} $$`, stepRunId: `step_${signal}` });
      const end = await bench.gateway.endOf(`step_${signal}`);
      expect(end).to.include({ phase: "STEP_PHASE_FAILED", exitCode: -1, reason: `ended by SIG${signal}` });
    }
  });

  it("stops at the first failing command, and runs under the shell that it names", async () => {
    bench.gateway.dispatch({ script: "false\necho not reached" });
    expect(await bench.gateway.endOf()).to.include({ exitCode: 1, lastLine: 0n });
    const args = { script: 'false | true\necho "$BASH_VERSION"', shell: "bash  -e -o pipefail" };
    bench.gateway.dispatch({ argsJson: JSON.stringify(args), stepRunId: "step_2" });
    expect(await bench.gateway.endOf("step_2")).to.include({ exitCode: 1, lastLine: 0n });
  });

  it("runs a command without a shell", async () => {
    const args = { command: "printf", args: ["%s|", "a b", "$HOME", "*", "-n", 3] };
    bench.gateway.dispatch({ argsJson: JSON.stringify(args) });
    expect((await bench.gateway.endOf()).exitCode).to.equal(0);
    expect(await textOf(1n)).to.deep.equal(["a b|$HOME|*|-n|3|"]);
  });

  it("keeps the text of its script out of every command line and environment", async () => {
    bench.gateway.dispatch({ script: `echo 'it'"'"'s $(exact) \`text\`'; sleep 60 # "needle-in-script"` });
    await bench.gateway.reportOf("STEP_PHASE_STARTED");
    expect(await textOf(1n)).to.deep.equal(["it's $(exact) `text`"]);
    expect(await processesWith("needle-in-script")).to.deep.equal([]);
  });

  it("gets the variables of the dispatch and its ids, and few of the agent's own", async () => {
    process.env["MILLRACE_TEST_SECRET"] = "of the agent";
    try {
      const env = [
        { name: "GREETING", value: "hello\nworld; $(x)" },
        { name: "GREETING", value: "last wins" },
        { name: "CI", value: "overridden" },
        { name: "mark", value: "mine" },
      ];
      bench.gateway.dispatch({ script: "env", env, jobAttempt: 3 });
      const end = await bench.gateway.endOf();
      const seen = new Map((await textOf(end.lastLine)).map((line) => line.split("=", 2) as [string, string]));
      expect(Object.fromEntries(seen)).to.include({
        GREETING: "last wins",
        CI: "true",
        mark: "mine",
        MILLRACE_RUN_ID: "run_1",
        MILLRACE_JOB_ID: "job_1",
        MILLRACE_JOB_NAME: "build",
        MILLRACE_JOB_ATTEMPT: "3",
        MILLRACE_STEP_RUN_ID: "step_1",
        MILLRACE_STEP_NAME: "compile",
        MILLRACE_WORKSPACE: join(bench.dataDir, "work", "job_1"),
        PWD: join(bench.dataDir, "work", "job_1"),
      });
      expect(seen.has("MILLRACE_TEST_SECRET")).to.equal(false);
    } finally {
      delete process.env["MILLRACE_TEST_SECRET"];
    }
  });

  it("is refused with a reason when the agent does not understand its arguments", async () => {
    const cases: [fields: Parameters<typeof bench.gateway.dispatch>[0], reason: RegExp][] = [
      [{ uses: "acme" }, /cannot run steps that use "acme"/],
      [{ argsJson: "{" }, /not JSON/],
      [{ argsJson: "{}" }, /either a script or a command/],
      [{ argsJson: '{"script":"true","command":"true"}' }, /either a script or a command/],
      [{ argsJson: '{"script":"true","shell":" "}' }, /takes a program and its flags/],
      [{ argsJson: '{"script":"true","sheell":"bash"}' }, /does not know "sheell"/],
      [{ script: "true", env: [{ name: "A B", value: "" }] }, /"A B" cannot be the name/],
      [{ script: "true", env: [{ name: "NUL", value: "\0" }] }, /null bytes/],
      [{ script: "true", workingDirectory: "../.." }, /leads out of the workspace/],
      [{ script: "true", workingDirectory: "missing" }, /is no folder of the workspace/],
      [{ script: "true", jobId: "../job" }, /cannot name a workspace/],
      [{ argsJson: JSON.stringify({ command: "true", args: ["x".repeat(4_000_000)] }) }, /E2BIG/],
    ];
    for (const [index, [fields, reason]] of cases.entries()) {
      bench.gateway.dispatch({ ...fields, stepRunId: `step_${index}` });
      const end = await bench.gateway.endOf(`step_${index}`);
      expect(end).to.include({ phase: "STEP_PHASE_FAILED", exitCode: -1, startedAtMs: 0n });
      expect(end.reason).to.match(reason);
    }
    bench.gateway.dispatch({ argsJson: '{"command":"no-such-program"}', stepRunId: "step_x" });
    expect(await bench.gateway.endOf("step_x")).to.include({ phase: "STEP_PHASE_FAILED", exitCode: 127 });
  });

  it("shares the workspace of its job, and runs in the folder that it names", async () => {
    bench.gateway.dispatch({ script: "mkdir -p deep/down && echo kept > deep/file" });
    await bench.gateway.endOf();
    bench.gateway.dispatch({ script: "cat ../file; pwd", workingDirectory: "deep/down", stepRunId: "step_2" });
    const end = await bench.gateway.endOf("step_2");
    const folder = join(bench.dataDir, "work", "job_1", "deep", "down");
    expect(await textOf(end.lastLine, "step_2")).to.deep.equal(["kept", folder]);
  });

  it("does not follow a link out of the workspace to its working directory", async () => {
    bench.gateway.dispatch({ script: "ln -s / way-out" });
    await bench.gateway.endOf();
    bench.gateway.dispatch({ script: "true", workingDirectory: "way-out/tmp", stepRunId: "step_2" });
    expect((await bench.gateway.endOf("step_2")).reason).to.match(/leads out of the workspace/);
  });

  it("may write to /dev/stdout and /dev/stderr", async () => {
    bench.gateway.dispatch({ script: "echo out > /dev/stdout; echo err > /dev/stderr; echo both | tee /dev/stderr" });
    const end = await bench.gateway.endOf();
    expect(end).to.include({ exitCode: 0 });
    expect((await textOf(end.lastLine)).sort()).to.deep.equal(["both", "both", "err", "out"]);
  });

  it("has no children that it did not start, and no descriptor of its lifeline", async () => {
    const command = "bash";
    const args = ["-c", 'readlink /proc/$$/fd/* | tr "\\n" " "; echo; cat /proc/$$/task/$$/children; echo'];
    bench.gateway.dispatch({ argsJson: JSON.stringify({ command, args }) });
    const end = await bench.gateway.endOf();
    const [descriptors, children] = await textOf(end.lastLine);
    expect(descriptors).to.include("/dev/null").and.not.include("socket:");
    // The one process is `cat` itself.
    expect(children!.trim().split(" ")).to.have.length(1);
  });

  it("is killed after its timeout, even when it ignores the request to end", async () => {
    bench.gateway.dispatch({ script: `trap '' TERM; echo deaf; ${sleepOf(61)}`, timeoutMs: 150n, cancelGraceMs: 100n });
    const end = await bench.gateway.endOf();
    expect(end).to.include({ phase: "STEP_PHASE_TIMED_OUT", exitCode: -1, lastLine: 1n });
    expect(end.reason).to.include("150 ms");
    expect(await processesWith(sleepOf(61))).to.deep.equal([]);
  });

  it("may end by itself when it is cancelled, and is reported as cancelled", async () => {
    bench.gateway.dispatch({ script: "trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.05; done" });
    // The output can arrive before the agent knows of the start. Until then, a revocation kills the step at once.
    await Promise.all([bench.gateway.logOf(1n), bench.gateway.reportOf("STEP_PHASE_STARTED")]);
    const value = { jobId: "job_1", stepRunId: "step_1", token: 1n, graceMs: 10_000n, reason: "stopped by ada" };
    bench.gateway.send({ $case: "revoke", value });
    const end = await bench.gateway.endOf();
    expect(end).to.include({ phase: "STEP_PHASE_CANCELLED", exitCode: 3, reason: "stopped by ada" });
    expect((await textOf(2n)).at(-1)).to.equal("bye");
  });

  it("is killed when it ignores its cancellation for longer than the grace", async () => {
    bench.gateway.dispatch({ script: `trap '' TERM; (trap '' TERM; ${sleepOf(62)}) & echo up; ${sleepOf(62)}` });
    await Promise.all([bench.gateway.logOf(1n), bench.gateway.reportOf("STEP_PHASE_STARTED")]);
    const value = { jobId: "job_1", stepRunId: "step_1", token: 1n, graceMs: 100n, reason: "" };
    bench.gateway.send({ $case: "revoke", value });
    expect(await bench.gateway.endOf()).to.include({ phase: "STEP_PHASE_CANCELLED", exitCode: -1 });
    expect(await processesWith(sleepOf(62))).to.deep.equal([]);
  });

  it("is cancelled without a start when the revocation arrives first", async () => {
    const value = { jobId: "job_1", stepRunId: "step_1", token: 1n, graceMs: 0n, reason: "too late" };
    bench.gateway.send({ $case: "revoke", value });
    bench.gateway.dispatch({ script: "echo started" });
    expect(await bench.gateway.endOf()).to.include({
      phase: "STEP_PHASE_CANCELLED",
      reason: "too late",
      startedAtMs: 0n,
    });
  });

  it("ends with all its children, even those that have left its process group", async () => {
    bench.gateway.dispatch({ script: `${sleepOf(63)} & setsid ${sleepOf(63)} & echo $MILLRACE_STEP_MARK` });
    const end = await bench.gateway.endOf();
    expect(end).to.include({ phase: "STEP_PHASE_SUCCEEDED", exitCode: 0 });
    expect(await processesWith(sleepOf(63))).to.deep.equal([]);
    const [mark] = await textOf(1n);
    await until("the end of its supervisor", async () => (await processesWith(mark!)).length === 0);
  });

  it("ends with its process, although another process still holds its output", async () => {
    // Without the environment, the agent cannot find out that the process belongs to the step.
    bench.gateway.dispatch({ script: "env -i setsid sleep 3.14 & echo done" });
    const end = await bench.gateway.endOf();
    expect(end).to.include({ phase: "STEP_PHASE_SUCCEEDED", lastLine: 1n });
  });

  it("keeps running after it has closed its output", async () => {
    bench.gateway.dispatch({ script: "exec >&- 2>&-; sleep 0.2; exit 5" });
    expect(await bench.gateway.endOf()).to.include({ phase: "STEP_PHASE_FAILED", exitCode: 5 });
  });

  it("ends when it has killed its starter", async () => {
    bench.gateway.dispatch({ script: `setsid ${sleepOf(67)} & kill -KILL $PPID; ${sleepOf(67)}` });
    expect(await bench.gateway.endOf()).to.include({ phase: "STEP_PHASE_LOST", exitCode: -1 });
    expect(await processesWith(sleepOf(67))).to.deep.equal([]);
    bench.gateway.dispatch({ script: "true", stepRunId: "step_2" });
    expect((await bench.gateway.endOf("step_2")).phase).to.equal("STEP_PHASE_SUCCEEDED");
  });

  it("ends when it has killed its supervisor", async () => {
    await bench.restart({ stepIsolation: "subreaper" });
    bench.gateway.dispatch({ script: `pkill -KILL -g $$ -f millrace-step; ${sleepOf(64)}` });
    expect(await bench.gateway.endOf()).to.include({ phase: "STEP_PHASE_FAILED", reason: "ended by SIGKILL" });
    expect(await processesWith(sleepOf(64))).to.deep.equal([]);
  });

  it("starts once, however often it is dispatched", async () => {
    const fields = { script: "echo begun >> count; sleep 0.3" };
    bench.gateway.dispatch(fields);
    await bench.gateway.reportOf("STEP_PHASE_STARTED");
    bench.gateway.dispatch(fields);
    await until("a second report of the start", () => bench.gateway.reports.length === 2);
    expect(bench.gateway.reports[1]!.phase).to.equal("STEP_PHASE_STARTED");
    await bench.gateway.endOf();
    const reports = bench.gateway.reports.length;
    bench.gateway.dispatch(fields);
    await until("the end again", () => bench.gateway.reports.length > reports);
    expect(bench.gateway.reports.at(-1)).to.include({ phase: "STEP_PHASE_SUCCEEDED", exitCode: 0 });
    expect(await readFile(join(bench.dataDir, "work", "job_1", "count"), "utf8")).to.equal("begun\n");
  });

  it("is killed without a report when the gateway refuses its grant", async () => {
    bench.gateway.dispatch({ script: `echo up; ${sleepOf(65)}` });
    await bench.gateway.reportOf("STEP_PHASE_STARTED");
    bench.gateway.send({ $case: "refuse", value: { stepRunId: "step_1", token: 1n } });
    await until("a heartbeat without it", () => bench.gateway.heartbeats.at(-1)?.held.length === 0);
    expect(bench.gateway.reports.map((report) => report.phase)).to.deep.equal(["STEP_PHASE_STARTED"]);
    expect(await processesWith(sleepOf(65))).to.deep.equal([]);
  });

  it("keeps its workspace and slot until the job is released, and links in it are not followed", async () => {
    const outside = join(bench.dataDir, "outside");
    await mkdir(outside);
    await writeFile(join(outside, "precious"), "kept");
    bench.gateway.dispatch({
      script: `ln -s ${outside} link; mkdir -p locked/in && touch locked/in/file && chmod 555 locked/in`,
    });
    await bench.gateway.endOf();
    await until("a heartbeat with the job", () => bench.gateway.heartbeats.at(-1)?.heldJobIds.includes("job_1"));
    const workspace = join(bench.dataDir, "work", "job_1");
    await symlink(outside, join(workspace, "second-link"));
    bench.gateway.send({ $case: "release", value: { jobId: "job_1", succeeded: false } });
    await until("a heartbeat without the job", () => bench.gateway.heartbeats.at(-1)?.heldJobIds.length === 0);
    expect(await stat(workspace).catch((error: NodeJS.ErrnoException) => error.code)).to.equal("ENOENT");
    expect(await readFile(join(outside, "precious"), "utf8")).to.equal("kept");
  });

  it("frees its slot at the release, and its workspace is removed, however large it is", async () => {
    bench.gateway.dispatch({
      script: `for i in $(seq 50); do mkdir $i; touch $(seq -f "$i/%.0f" 200); done; echo done`,
    });
    await bench.gateway.endOf();
    const [work, trash] = [join(bench.dataDir, "work"), join(bench.dataDir, "trash")];
    bench.gateway.send({ $case: "release", value: { jobId: "job_1", succeeded: false } });
    await until("a workspace that is moved away", async () => (await readdir(work)).length === 0);
    await until("a heartbeat without the job", () => bench.gateway.heartbeats.at(-1)?.heldJobIds.length === 0);
    await until("an empty trash", async () => (await readdir(trash)).length === 0);
  });

  it("is killed at the release of its job, and no later step starts", async () => {
    bench.gateway.dispatch({ script: `echo up; ${sleepOf(66)}` });
    await bench.gateway.logOf(1n);
    bench.gateway.send({ $case: "release", value: { jobId: "job_1", succeeded: false } });
    await until("a heartbeat without the job", () => bench.gateway.heartbeats.at(-1)?.heldJobIds.length === 0);
    expect(await processesWith(sleepOf(66))).to.deep.equal([]);
    bench.gateway.dispatch({ script: "echo again", stepRunId: "step_2" });
    expect(await bench.gateway.endOf("step_2")).to.include({ phase: "STEP_PHASE_LOST", startedAtMs: 0n });
  });

  it("without room for its workspace is not started, and the report says so", async () => {
    const work = join(bench.dataDir, "work");
    await rm(work, { recursive: true });
    await writeFile(work, "in the way");
    bench.gateway.dispatch({ script: "true" });
    const end = await bench.gateway.endOf();
    expect(end).to.include({ phase: "STEP_PHASE_NOT_STARTED", exitCode: -1, startedAtMs: 0n });
    expect(end.reason).to.include(work);
  });

  it("that could not be recorded is never started, even when the disk has room again", async () => {
    const scratch = join(bench.dataDir, "scratch");
    await rename(scratch, `${scratch}-away`);
    await writeFile(scratch, "in the way");
    const marks = join(bench.dataDir, "marks");
    bench.gateway.dispatch({ script: `echo ran >> ${marks}` });
    const end = await bench.gateway.endOf();
    expect(end).to.include({ phase: "STEP_PHASE_NOT_STARTED", startedAtMs: 0n });
    expect(end.reason).to.include("cannot write to the data directory");
    await rm(scratch);
    await rename(`${scratch}-away`, scratch);
    const reported = bench.gateway.reports.length;
    bench.gateway.dispatch({ script: `echo ran >> ${marks}` });
    await until("the report again", () => bench.gateway.reports.length > reported);
    expect(bench.gateway.reports.at(-1)).to.include({ phase: "STEP_PHASE_NOT_STARTED" });
    bench.gateway.dispatch({ script: `echo ran >> ${marks}`, stepRunId: "step_2" });
    expect(await bench.gateway.endOf("step_2")).to.include({ phase: "STEP_PHASE_SUCCEEDED" });
    expect(await readFile(marks, "utf8")).to.equal("ran\n");
  });
});

describe("the log of an agent", () => {
  it("tells of the begin of a step and then of its end, also when the agent ends at once", async () => {
    const bench = await new AgentBench().open();
    try {
      const lines: string[] = [];
      const info: Logger["info"] = (...[, message]) => void lines.push(message);
      const quiet = () => {};
      const agent = await bench.start({ log: { debug: quiet, info, warn: quiet, error: quiet } });
      bench.gateway.dispatch({ script: "true" });
      await bench.gateway.endOf();
      await agent.kill();
      const ofSteps = lines.filter((line) => line.includes("a step run"));
      expect(ofSteps).to.deep.equal(["a step run begins", "a step run has ended"]);
    } finally {
      await bench.end();
    }
  });
});
