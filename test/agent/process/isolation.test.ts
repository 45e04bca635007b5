/** The same steps under each step isolation that this machine has, with the real launcher and guard. */
import { mkdirSync, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect } from "chai";
import { systemClock } from "../../../src/domain/clock.ts";
import { endCgroup, hierarchiesOf } from "../../../src/agent/process/cgroups.ts";
import { chooseIsolation } from "../../../src/agent/process/choose-isolation.ts";
import { Guard } from "../../../src/agent/process/guard.ts";
import { Launcher } from "../../../src/agent/process/launcher.ts";
import { BY_MARK, cgroupFolderOf, starterOf, type StepIsolation } from "../../../src/agent/process/step-isolation.ts";
import { until } from "../../support/until.ts";
import { processesWith, SILENT, sleepOf } from "../test-agent.ts";

const available = await isolationsOfThisMachine();

describe("the isolation of steps", () => {
  it("is chosen by what works, and refused by name when it does not", async () => {
    const folder = await mkdtemp(join(tmpdir(), "millrace-isolation-"));
    const path = process.env["PATH"];
    try {
      const chosen = await chooseIsolation("auto", folder, SILENT);
      expect(chosen.kind).to.equal((available.at(0) ?? BY_MARK).kind);
      expect(await chooseIsolation("mark", folder, SILENT)).to.deep.equal({ ...BY_MARK, starter: "perl" });
      // Without programs there is neither `unshare` nor an interpreter.
      process.env["PATH"] = folder;
      for (const kind of ["pid-namespace", "subreaper"] as const) {
        const error = await chooseIsolation(kind, folder, SILENT).catch((each: Error) => each);
        expect(error).to.have.property("message").that.includes(kind);
      }
      // Without Perl, each step has a supervisor.
      expect(await chooseIsolation("mark", folder, SILENT)).to.deep.equal(BY_MARK);
      const cgroup = cgroupFolderOf(chosen);
      if (cgroup !== undefined) await endCgroup(cgroup);
    } finally {
      process.env["PATH"] = path;
      await rm(folder, { recursive: true });
    }
  });

  it("finds the cgroup of this process in every kind of mount", () => {
    const cgroup = "9:freezer,cpu:/docker/abc\n8:pids:/\n0::/user.slice/a b\n";
    const mountinfo = [
      "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
      "37 31 0:34 /docker/abc /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer,cpu",
      "39 31 0:36 /other /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids",
      "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755",
    ].join("\n");
    expect(hierarchiesOf(cgroup, mountinfo)).to.deep.equal([
      { control: "kill", own: "/sys/fs/cgroup/unified/user.slice/a b" },
      { control: "freezer", own: "/sys/fs/cgroup/freezer" },
    ]);
    expect(hierarchiesOf("0::/../other\n", mountinfo)).to.deep.equal([]);
    expect(hierarchiesOf("", "")).to.deep.equal([]);
  });

  for (const isolation of [...available, BY_MARK, { ...BY_MARK, starter: "perl" } as const]) {
    describe(`by ${nameOf(isolation)}`, () => {
      let folder: string;
      let launcher: Launcher;
      let guard: Guard;
      let cgroup: string | undefined;
      before(async () => {
        folder = await mkdtemp(join(tmpdir(), "millrace-isolation-"));
        cgroup = cgroupFolderOf(isolation);
        if (cgroup !== undefined) mkdirSync(cgroup, { recursive: true });
        launcher = new Launcher(SILENT, undefined, isolation);
        guard = new Guard({ folder, cgroupFolder: cgroup, clock: systemClock, log: SILENT, onRunOut: () => {} });
        guard.open(1, systemClock.monotonic() + 60_000);
      });
      after(async () => {
        await launcher.close();
        await guard.close();
        if (cgroup !== undefined) expect(await endCgroup(cgroup), "an empty cgroup").to.equal(true);
        await rm(folder, { recursive: true });
      });

      const start = async (script: string, lease = 1) => {
        await writeFile(join(folder, "output"), "");
        return launcher.start({
          command: ["sh", "-c", script],
          cwd: folder,
          env: { PATH: process.env["PATH"] ?? "", GIVEN: "yes" },
          stdout: join(folder, "output"),
          stderr: "/dev/null",
          leaseMark: guard.markOf(lease),
          permitFile: guard.permitOf(lease),
        });
      };
      const output = () => readFile(join(folder, "output"), "utf8");
      const areRunning = async (seconds: number) => (await processesWith(sleepOf(seconds))).length > 0;
      /** A process that keeps nothing by which the mark could find it. */
      const hidden = (seconds: number) => `setsid env -i ${sleepOf(seconds)} >/dev/null 2>&1 &`;
      const isHidden = isolation.kind !== "mark";

      it("passes on every exit code and signal", async () => {
        for (const code of [0, 1, 125, 137, 143]) {
          expect(await (await start(`exit ${code}`)).exited, `${code}`).to.include({ code, signal: null });
        }
        for (const signal of ["KILL", "TERM", "SEGV", "INT"] as const) {
          const { exited } = await start(`kill -${signal} $$`);
          expect(await exited, signal).to.include({ code: null, signal: `SIG${signal}` });
        }
        expect(await (await start("exec no-such-program")).exited).to.include({ code: 127 });
      });

      it("shows a step what it sees without one", async () => {
        const told = [
          `[ "$(ps -o pid= -o pgid= -o sid= -p $$ | tr -s ' ' ',' | tr -d '\\n')" != "" ] && echo ps`,
          `read -r stat </proc/$$/stat; set -- \${stat##*) }; [ "$3" = $$ ] && [ "$4" = $$ ] && echo leader`,
          `pwd; id -u; echo "$GIVEN"; read -r line || echo no input`,
          // Descriptor 3 is the lifeline, which only the watcher of the step may hold.
          "readlink /proc/$$/fd/3 || echo closed",
          "grep -E 'SigIgn|SigBlk' /proc/self/status | tr -s '\\t\\n' '  '; echo",
          "sleep 0.01 & wait; echo waited",
        ];
        await (
          await start(told.join("\n"))
        ).exited;
        const none = "0000000000000000";
        expect((await output()).split("\n")).to.deep.equal([
          "ps",
          "leader",
          folder,
          String(process.getuid!()),
          "yes",
          "no input",
          "closed",
          `SigBlk: ${none} SigIgn: ${none} `,
          "waited",
          "",
        ]);
      });

      it("lets a step end by SIGTERM in its own way", async () => {
        const polite = await start("trap 'exit 3' TERM; echo ready; while :; do sleep 0.02; done");
        await until("its trap", async () => (await output()) !== "");
        polite.signal("SIGTERM");
        expect(await polite.exited).to.include({ code: 3, signal: null });
        const plain = await start(`echo ready; exec ${sleepOf(81)}`);
        await until("its start", async () => (await output()) !== "");
        plain.signal("SIGTERM");
        expect(await plain.exited).to.include({ code: null, signal: "SIGTERM" });
      });

      it("measures what the step has used", async () => {
        const { exited } = await start("i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done");
        expect((await exited)!.usage!.cpuMs).to.be.greaterThan(20);
      });

      it("ends a process that clears its environment when the step has ended", async () => {
        for (const script of [hidden(82), `${hidden(82)} sleep 0.3`, `(${hidden(82)} ) & wait`]) {
          const { gone } = await start(isHidden ? script : script.replaceAll("env -i", ""));
          await gone;
          expect(await areRunning(82), script).to.equal(false);
        }
      });

      it("ends a process that clears its environment when the step is killed", async () => {
        const step = await start(`${isHidden ? hidden(83) : ""} trap '' TERM; echo ready; ${sleepOf(83)}; sleep 60`);
        await until("its processes", async () => (await areRunning(83)) && (await output()) !== "");
        step.kill();
        expect(await step.exited).to.include({ code: null, signal: "SIGKILL" });
        await step.gone;
        expect(await areRunning(83)).to.equal(false);
      });

      it("ends a process that clears its environment when the launcher is killed", async () => {
        const step = await start(`${isHidden ? hidden(84) : ""} echo ready; ${sleepOf(84)}`);
        await until("its processes", async () => (await areRunning(84)) && (await output()) !== "");
        process.kill((await processesWith("launcher-main", process.pid))[0]!, "SIGKILL");
        await step.gone;
        await until("the end of them", async () => !(await areRunning(84)));
        expect(await (await start("exit 4")).exited).to.include({ code: 4 });
      });

      it("ends a process that clears its environment when the lease runs out and the launcher hangs", async () => {
        guard.open(2, systemClock.monotonic() + 60_000);
        const step = await start(`${isHidden ? hidden(85) : ""} echo ready; ${sleepOf(85)}`, 2);
        await until("its processes", async () => (await areRunning(85)) && (await output()) !== "");
        const [pid] = await processesWith("launcher-main", process.pid);
        process.kill(pid!, "SIGSTOP");
        try {
          guard.renew(2, systemClock.monotonic());
          await until("the end of them", async () => !(await areRunning(85)));
        } finally {
          process.kill(pid!, "SIGCONT");
        }
        await step.gone;
      });
    });
  }
});

function nameOf(isolation: StepIsolation): string {
  const starter = starterOf(isolation) === undefined ? "" : " with a starter";
  if (isolation.kind === "cgroup") return `cgroup of ${basename(join(isolation.folder, ".."))}${starter}`;
  return isolation.kind === "subreaper" ? `subreaper of ${isolation.interpreter}` : `${isolation.kind}${starter}`;
}

/** Every isolation that works here but the mark, the cgroups of all versions among them. */
async function isolationsOfThisMachine(): Promise<StepIsolation[]> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-isolation-"));
  const found: StepIsolation[] = [];
  for (const kind of ["cgroup", "pid-namespace", "subreaper"] as const) {
    const isolation = await chooseIsolation(kind, folder, SILENT).catch(() => undefined);
    if (isolation !== undefined) found.push(isolation);
    if (isolation?.kind === "subreaper" && isolation.interpreter === "perl")
      found.push({ kind: "subreaper", interpreter: "python3" });
    if (isolation?.kind !== "cgroup") continue;
    found.push({ kind: "cgroup", folder: isolation.folder });
    await endCgroup(isolation.folder);
    const read = (name: string) => readFileSync(`/proc/self/${name}`, "latin1");
    for (const { control, own } of hierarchiesOf(read("cgroup"), read("mountinfo")))
      if (control !== "kill") {
        const other = { kind: "cgroup", folder: join(own, basename(isolation.folder)) } as const;
        found.push(other, { ...other, starter: "perl" });
      }
  }
  await rm(folder, { recursive: true });
  return found;
}
