/** Steps without a container under the bounds and in the namespaces of an agent, where this machine has them. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import type { Dispatch } from "../../proto/generated/agent/v1/agent.ts";
import { controllerGroups } from "../../src/agent/process/cgroups.ts";
import { checkNamespaces, inNamespaces } from "../../src/agent/process/namespaces.ts";
import { boundsIn, openStepLimits, ProcessLimits, type StepLimits } from "../../src/agent/process/step-limits.ts";
import { MillraceError } from "../../src/domain/errors.ts";
import { findOnPath } from "../../src/program-path.ts";
import { AgentBench, SILENT } from "./test-agent.ts";

const MB = 1024 ** 2;
const LIMITS: StepLimits = { memoryBytes: 64 * MB, pids: 40, cpus: null };

describe("steps without a container", function () {
  this.timeout(60_000);
  let bench: AgentBench;
  beforeEach(async () => (bench = await new AgentBench().open()));
  afterEach(() => bench.end());

  let steps = 0;
  function begin(script: string, fields: Partial<Dispatch> = {}) {
    const number = ++steps;
    const [stepRunId, jobId] = [`step_${number}`, `job_${number}`];
    bench.gateway.dispatch({ stepRunId, jobId, token: BigInt(number), script, ...fields });
    return async () => {
      const end = await bench.gateway.endOf(stepRunId);
      const log = (await bench.gateway.logOf(end.lastLine, stepRunId)).map(({ content }) => content);
      return { end, log: log.join("\n") };
    };
  }
  const run = (script: string, fields: Partial<Dispatch> = {}) => begin(script, fields)();

  it("are held to their memory and their processes beside a job that does not notice", async function () {
    const dataDir = mkdtempSync(join(tmpdir(), "millrace-limits-"));
    const bounded = await openStepLimits(LIMITS, { dataDir, cgroupFolder: undefined, user: undefined, log: SILENT });
    rmSync(dataDir, { recursive: true });
    // The form without control groups has a test of its own.
    if (bounded?.kind !== "cgroup") this.skip();
    await bench.start({ stepLimits: LIMITS, slots: 3 });
    const beside = begin("i=0; while [ $i -lt 300 ]; do /bin/true && i=$((i + 1)) || exit 9; done; echo $i");
    const bomb = begin("bomb() { bomb | bomb & }; bomb; sleep 30; echo survived", { timeoutMs: 1_000n });
    const hog = begin("tail /dev/zero");
    expect((await hog()).end.reason).to.match(/^out_of_memory: the memory that a step may use was used up/);
    const bombed = await bomb();
    expect(bombed.end.phase).to.match(/TIMED_OUT|FAILED/);
    expect(bombed.log).to.match(/fork/i).and.not.to.include("survived");
    expect((await beside()).log).to.equal("300");
    expect((await run("exit 7")).end).to.deep.include({
      phase: "STEP_PHASE_FAILED",
      exitCode: 7,
      reason: "exit code 7",
    });
    expect((await run("env | grep -c millrace-limits || true")).log).to.equal("0");
  });

  it("are held to their processors", async function () {
    const dataDir = mkdtempSync(join(tmpdir(), "millrace-limits-"));
    const limits = { memoryBytes: null, pids: null, cpus: 0.02 };
    const place = { dataDir, cgroupFolder: undefined, user: undefined, log: SILENT };
    const bounded = await openStepLimits(limits, place).catch(() => undefined);
    rmSync(dataDir, { recursive: true });
    // This machine lets the agent make no group with the controller.
    if (bounded === undefined) return this.skip();
    const limited = bounded.limit(["/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done"], "test-");
    const [program, ...args] = limited.command;
    const group = dirname(args.find((arg) => arg.endsWith("/cgroup.procs"))!);
    await promisify(execFile)(program, args);
    const statistics = readFileSync(join(group, "cpu.stat"), "utf8");
    await limited.end();
    expect(Number(/^nr_throttled (\d+)$/m.exec(statistics)?.[1]), statistics).to.be.above(0);
  });

  it("see as little in the namespaces of a user without rights", async function () {
    if (process.platform !== "linux" || process.geteuid!() !== 0 || findOnPath("bwrap") === undefined) this.skip();
    const user = { uid: 64_008, gid: 64_008 };
    // The kernel may give no user namespaces to such a user: then an agent that asks for them does not start.
    const refused = await checkNamespaces(user).catch((error: Error) => error);
    if (refused !== undefined) return this.skip();
    const place = { hidden: [bench.dataDir], folders: [], hasNetwork: false };
    const script = `id -u; touch /tmp/own && echo "own /tmp"; ls ${bench.dataDir}; tail -n +3 /proc/net/dev | cut -d: -f1`;
    const [program, ...args] = inNamespaces(["/bin/sh", "-c", script], place);
    const { stdout } = await promisify(execFile)(program, args, { ...user, cwd: "/" });
    expect(stdout.split("\n").map((line) => line.trim())).to.deep.equal(["64008", "own /tmp", "lo", ""]);
  });

  it("are held by prlimit where the agent makes no control groups", async function () {
    const prlimit = findOnPath("prlimit");
    if (prlimit === undefined) return this.skip();
    const [program, ...args] = new ProcessLimits(LIMITS, prlimit).limit(["tail", "/dev/zero"]).command;
    const failed = (options: object, [file = "", ...rest]: readonly string[]) =>
      new Promise<string>((resolve) =>
        execFile(file, rest, { timeout: 30_000, ...options }, (error, _, stderr) =>
          resolve(error === null ? "" : stderr),
        ),
      );
    expect(await failed({}, [program, ...args])).to.match(/memory exhausted/);
    if (process.geteuid!() !== 0) return;
    // The bound on processes counts those of the user.
    const script = "i=0; while [ $i -lt 60 ]; do sleep 1 & i=$((i + 1)); done; exit 0";
    const user = { uid: 64_007, gid: 64_007 };
    expect(await failed(user, new ProcessLimits(LIMITS, prlimit).limit(["/bin/sh", "-c", script]).command)).to.match(
      /fork/i,
    );
  });

  it("see the machine read-only, no other process, no network and no file of the agent in namespaces", async function () {
    if (process.platform !== "linux" || findOnPath("bwrap") === undefined) this.skip();
    await bench.start({ isolation: { kind: "namespaces", hasNetwork: false } });
    expect(bench.gateway.hellos.at(-1)!.labels).to.include({ isolation: "namespaces" });
    const { end, log } = await run(`
      echo "version=1" >>"$MILLRACE_OUTPUT"; echo kept >kept
      touch /etc/millrace-test 2>/dev/null && echo "wrote /etc"
      echo "processes: $(ls /proc | grep -c '^[0-9]')"
      echo "network: $(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | tr '\\n' ' ')"
      ls "${bench.dataDir}" "$HOME"; ls /tmp
      exit 3`);
    expect(end, log).to.deep.include({ exitCode: 3, outputs: { version: "1" }, reason: "exit code 3" });
    expect(Number(/processes: (\d+)/.exec(log)?.[1]), log).to.be.within(1, 6);
    expect(log)
      .to.match(/^network: lo $/m)
      .and.not.to.match(/wrote|identity|journal/);
    expect(await readFile(join(bench.dataDir, "work", `job_${steps}`, "kept"), "utf8")).to.equal("kept\n");
    const polite = begin("trap 'echo asked; exit 9' TERM; echo begun; while :; do sleep 0.1; done");
    await bench.gateway.logOf(1n, `step_${steps}`);
    const revoke = {
      jobId: `job_${steps}`,
      stepRunId: `step_${steps}`,
      token: BigInt(steps),
      graceMs: 20_000n,
      reason: "stop",
    };
    bench.gateway.send({ $case: "revoke", value: revoke });
    const ended = await polite();
    expect(ended.end, ended.log).to.deep.include({ phase: "STEP_PHASE_CANCELLED", exitCode: 9 });
  });

  it("do not begin on an agent that demands containers, which needs an engine", async () => {
    const error = await bench
      .start({ isolation: { kind: "container", hasNetwork: false } })
      .catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(MillraceError).with.property("message").that.includes("needs a container engine");
  });
});

describe("the bounds of a control group", () => {
  let root: string;
  beforeEach(() => (root = mkdtempSync(join(tmpdir(), "millrace-groups-"))));
  afterEach(() => rmSync(root, { recursive: true }));

  it("are files of the version of its hierarchy, memory before swap", () => {
    const limits = { memoryBytes: 1_024, pids: 5, cpus: 1.5 };
    expect(boundsIn(limits, 1, ["memory", "cpu"])).to.deep.equal([
      ["memory.limit_in_bytes", "1024"],
      ["memory.memsw.limit_in_bytes", "1024"],
      ["cpu.cfs_period_us", "100000"],
      ["cpu.cfs_quota_us", "150000"],
    ]);
    expect(boundsIn(limits, 2, ["memory", "pids", "cpu"])).to.deep.equal([
      ["memory.max", "1024"],
      ["memory.swap.max", "0"],
      ["pids.max", "5"],
      ["cpu.max", "150000 100000"],
    ]);
  });

  it("are in one group for each hierarchy of version 1, and in the group of the steps in version 2", () => {
    const mount = (type: string, options: string, point: string) =>
      `1 1 0:1 / ${join(root, point)} rw - ${type} ${type} ${options}`;
    const [memory, both] = [mount("cgroup", "rw,memory", "memory"), mount("cgroup", "rw,cpu,pids", "both")];
    const first = { cgroup: "3:memory:/a\n2:cpu,pids:/b\n0::/", mountinfo: `${memory}\n${both}` };
    expect(controllerGroups(["memory", "pids", "cpu"], "limits", undefined, first)).to.deep.equal([
      { folder: join(root, "memory/a/limits"), version: 1, controllers: ["memory"] },
      { folder: join(root, "both/b/limits"), version: 1, controllers: ["pids", "cpu"] },
    ]);
    expect(controllerGroups(["memory"], "limits", undefined, { ...first, mountinfo: both })).to.equal(undefined);
    const own = join(root, "unified/agent");
    mkdirSync(join(own, "steps"), { recursive: true });
    for (const folder of [own, join(own, "steps")]) {
      writeFileSync(join(folder, "cgroup.controllers"), "cpu memory pids\n");
      // The kernel answers with what it has taken; so does a file that holds it already.
      writeFileSync(join(folder, "cgroup.subtree_control"), `${" ".repeat(20)}memory pids\n`);
    }
    const second = { cgroup: "0::/agent", mountinfo: mount("cgroup2", "rw", "unified") };
    expect(controllerGroups(["memory", "pids"], "limits", join(own, "steps"), second)).to.deep.equal([
      { folder: join(own, "steps"), version: 2, controllers: ["memory", "pids"] },
    ]);
    expect(readFileSync(join(own, "cgroup.subtree_control"), "utf8")).to.include("+memory +pids");
    expect(controllerGroups(["memory", "hugetlb" as "cpu"], "limits", undefined, second)).to.equal(undefined);
  });
});
