/** The process that forks the processes of steps, with real processes. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect } from "chai";
import type { Launch } from "../../../src/agent/process/launch-protocol.ts";
import { killAllMarked } from "../../../src/agent/process/kill-all.ts";
import { Starter } from "../../../src/agent/process/starter.ts";
import type { StartedProcess } from "../../../src/agent/process/started-process.ts";
import { starterCommand } from "../../../src/agent/process/starter-script.ts";
import { LocalKeeper } from "../../../src/agent/process/step-keeper.ts";
import { UsageMeter } from "../../../src/agent/process/usage-meter.ts";
import { until } from "../../support/until.ts";
import { processesWith, sleepOf } from "../test-agent.ts";

function childrenOf(pid: number): readonly number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1");
    return text
      .split(" ")
      .filter((word) => word !== "")
      .map(Number);
  } catch {
    return [];
  }
}

describe("a starter", () => {
  let folder: string;
  let starter: Starter;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-starter-"));
    await writeFile(join(folder, "permit"), "");
    const leaseMark = `${basename(folder)};`;
    const keeper = new LocalKeeper(new UsageMeter());
    starter = new Starter({ leaseMark, prefix: `${leaseMark}a-`, cgroupFolder: undefined, keeper });
  });
  afterEach(async () => {
    starter.end();
    await starter.gone;
    await rm(folder, { recursive: true });
  });

  const launch = (command: readonly [string, ...string[]], given: Partial<Launch> = {}): Launch => ({
    command,
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "" },
    stdout: join(folder, "out"),
    stderr: join(folder, "err"),
    leaseMark: starter.leaseMark,
    permitFile: join(folder, "permit"),
    ...given,
  });
  const written = (name: string) => readFile(join(folder, name), "utf8");

  it("passes every argument, variable and folder exactly, and no variable of its own", async () => {
    const texts = ["", " ", "a=b=", "line\nfeed", "'quoted' \"text\" $HOME `ls` \\", "grün ✓", "-n"];
    const variables = Object.fromEntries(texts.map((text, index) => [`TEXT_${index}`, text]));
    const names = { ...variables, PATH: process.env["PATH"]!, UID: "7", IFS: "x", BASH_ENV: "no" };
    const script = "process.stdout.write(JSON.stringify([process.argv.slice(1), process.env, process.cwd()]))";
    const { exited } = starter.start(launch([process.execPath, "-e", script, "--", ...texts], { env: names }));
    expect(await exited).to.include({ code: 0 });
    const [args, env, cwd] = JSON.parse(await written("out")) as [string[], Record<string, string>, string];
    expect(args).to.deep.equal(texts);
    expect(env).to.deep.equal({ ...names, PWD: folder, MILLRACE_STEP_MARK: `${starter.leaseMark}a-1;` });
    expect(cwd).to.equal(folder);
  });

  it("tells why a program did not start", async () => {
    expect(await starter.start(launch(["no-such-program"])).exited).to.include({ code: 127 });
    expect(await written("err")).to.equal("millrace: cannot run no-such-program: No such file or directory\n");
    expect(await starter.start(launch([folder])).exited).to.include({ code: 126 });
    for (const [obstacle, given] of [
      ["folder", { cwd: join(folder, "none") }],
      ["permit", { permitFile: join(folder, "none") }],
      ["isolation", { stdout: join(folder, "none", "out") }],
    ] as const) {
      const command = ["touch", join(folder, "ran")] as const;
      expect(await starter.start(launch(command, given)).exited).to.include({ obstacle });
    }
    expect(existsSync(join(folder, "ran"))).to.equal(false);
  });

  it("looks for a program by the rules of PATH, and gives a script without an interpreter to the shell", async () => {
    const inFolder = (name: string) => join(folder, name);
    for (const name of ["first", "second"]) await mkdir(inFolder(name));
    await writeFile(inFolder("first/said"), "not executable", { mode: 0o600 });
    await writeFile(inFolder("second/said"), "#!/bin/sh\necho second", { mode: 0o700 });
    await writeFile(inFolder("first/bare"), "echo bare", { mode: 0o700 });
    await writeFile(inFolder("second/bare"), "#!/bin/sh\necho never", { mode: 0o700 });
    await writeFile(inFolder("here"), "#!/bin/sh\necho here", { mode: 0o700 });
    const path = `${inFolder("none")}:${inFolder("first")}:${inFolder("second")}:/usr/bin:/bin`;
    for (const [command, PATH, output] of [
      ["said", path, "second"],
      ["bare", path, "bare"],
      ["here", `:${path}`, "here"],
      ["here", `${path}:`, "here"],
      [inFolder("first/bare"), "", "bare"],
      ["./here", path, "here"],
    ] as const) {
      expect(await starter.start(launch([command], { env: { PATH } })).exited, command).to.include({ code: 0 });
      expect(await written("out")).to.equal(`${output}\n`);
    }
    expect(await starter.start(launch(["true"], { env: {} })).exited).to.include({ code: 0 });
    expect(await starter.start(launch(["here"], { env: { PATH: path } })).exited).to.include({ code: 127 });
  });

  it("leaves none of its steps when it is killed, nor when it ends", async () => {
    const steps = [0, 1].map(() => starter.start(launch(["sh", "-c", `setsid ${sleepOf(71)} & ${sleepOf(71)}`])));
    await until("the processes", async () => (await processesWith(sleepOf(71))).length >= 6);
    process.kill(starter.group, "SIGKILL");
    for (const step of steps) {
      expect(await step.exited).to.equal(undefined);
      await step.gone;
    }
    expect(await processesWith(sleepOf(71))).to.deep.equal([]);
    expect([starter.isRunning, starter.isUsed]).to.deep.equal([false, false]);
  });

  it("is cleaned up after by a shell outside of the agent's process group, which the guard may kill with its group", async () => {
    const groupOf = (pid: number) => Number(readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]!.split(" ")[2]);
    const before = childrenOf(process.pid);
    const killed = killAllMarked(`${starter.leaseMark}none-`, "");
    const [shell, ...others] = childrenOf(process.pid).filter((pid) => !before.includes(pid));
    expect(others).to.deep.equal([]);
    expect(groupOf(shell!)).to.equal(shell);
    await killed;
  });

  it("leaves none of its steps when it ends after one of them has stopped it", async () => {
    const step = starter.start(launch(["sh", "-c", `setsid ${sleepOf(76)} & kill -STOP $PPID; ${sleepOf(76)}`]));
    await until("the processes", async () => (await processesWith(sleepOf(76))).length >= 3);
    starter.end();
    await starter.gone;
    expect(await step.exited).to.equal(undefined);
    expect(await processesWith(sleepOf(76))).to.deep.equal([]);
  });

  it("kills a step that is asked to end before its program begins, with all that it starts", async () => {
    for (let count = 0; count < 30; count++) {
      const step = starter.start(launch(["sh", "-c", `setsid ${sleepOf(72)} & ${sleepOf(72)}`]));
      step.kill();
      expect(await step.exited).to.include({ code: null, signal: "SIGKILL" });
      await step.gone;
    }
    expect(await processesWith(sleepOf(72))).to.deep.equal([]);
  });

  describe("with a spare process", () => {
    let spare: number;
    beforeEach(async () => {
      expect(await starter.start(launch(["true"])).exited).to.include({ code: 0 });
      await until("the spare", () => starter.hasSpare);
      spare = childrenOf(starter.group)[0]!;
    });

    it("makes it the process of the next step, and then has another one", async () => {
      const { exited } = starter.start(launch(["sh", "-c", "echo $$; ps -o pgid=,sid= -p $$"]));
      expect(await exited).to.include({ code: 0 });
      expect((await written("out")).trim().split(/\s+/).map(Number)).to.deep.equal([spare, spare, spare]);
      await until("another spare", () => childrenOf(starter.group).some((pid) => pid !== spare));
    });

    it("has another one while a long step runs", async () => {
      const step = starter.start(launch(["sleep", "73"]));
      await step.begun;
      await until("another spare", () => childrenOf(starter.group).length === 2);
      step.kill();
      await step.gone;
    });

    it("starts the next step without it when the spare was killed, or when the request is large", async () => {
      process.kill(spare, "SIGKILL");
      await until("the end of the spare", () => !starter.hasSpare);
      expect(await starter.start(launch(["true"])).exited).to.include({ code: 0 });
      await until("another spare", () => starter.hasSpare);
      const env = { PATH: process.env["PATH"]!, LARGE: "x".repeat(100_000) };
      const { exited } = starter.start(launch(["sh", "-c", "echo ${#LARGE}"], { env }));
      expect(await exited).to.include({ code: 0 });
      expect(await written("out")).to.equal("100000\n");
    });

    it("leaves none of it when the starter is killed", async () => {
      process.kill(starter.group, "SIGKILL");
      await starter.gone;
      await until("the end of the spare", () => !existsSync(`/proc/${spare}`));
    });

    describe("that is stopped when it is given a step", () => {
      let step: StartedProcess;
      beforeEach(() => {
        process.kill(spare, "SIGSTOP");
        step = starter.start(launch(["touch", join(folder, "ran")]));
      });
      const hasRun = () => existsSync(join(folder, "ran"));

      it("passes the step to no other process when it is killed", async () => {
        process.kill(spare, "SIGKILL");
        expect(await step.exited).to.include({ signal: "SIGKILL" });
        await step.gone;
        expect(await starter.start(launch(["true"])).exited).to.include({ code: 0 });
        await until("another spare", () => starter.hasSpare);
        const [next] = childrenOf(starter.group);
        expect(await starter.start(launch(["sh", "-c", "echo $$"])).exited).to.include({ code: 0 });
        expect(await written("out")).to.equal(`${next}\n`);
        expect(hasRun()).to.equal(false);
      });

      it("has no other one beside it before it has read its request, and the next step starts without", async () => {
        expect(await starter.start(launch(["sleep", "0.1"])).exited).to.include({ code: 0 });
        expect(childrenOf(starter.group)).to.deep.equal([spare]);
        expect(hasRun()).to.equal(false);
        process.kill(spare, "SIGCONT");
        expect(await step.exited).to.include({ code: 0 });
        expect(hasRun()).to.equal(true);
        await until("another spare", () => childrenOf(starter.group).some((pid) => pid !== spare));
      });

      it("does not begin the step when the agent kills it", async () => {
        step.kill();
        expect(await step.exited).to.include({ signal: "SIGKILL" });
        await step.gone;
        expect([hasRun(), existsSync(`/proc/${spare}`)]).to.deep.equal([false, false]);
      });

      for (const [how, end] of [
        ["is killed", () => process.kill(starter.group, "SIGKILL")],
        ["ends with its agent", () => starter.end()],
      ] as const) {
        it(`does not begin the step when the starter ${how}`, async () => {
          end();
          expect(await step.exited).to.equal(undefined);
          await step.gone;
          await starter.gone;
          await until("the end of the spare", () => !existsSync(`/proc/${spare}`));
          expect(hasRun()).to.equal(false);
        });
      }
    });

    it("tells why a program did not start", async () => {
      expect(await starter.start(launch(["true"], { permitFile: join(folder, "none") })).exited).to.include({
        obstacle: "permit",
      });
    });
  });

  it("starts processes also where clone3 is forbidden", async () => {
    // There is no system call of this number, so that the answer is that of a container that forbids clone3.
    const [program, ...args] = starterCommand("exit", [])!.map((text) => text.replace("syscall(435,", "syscall(9435,"));
    const child = spawn(program!, args, { stdio: ["ignore", "ignore", "inherit", "pipe", "pipe", "pipe"] });
    const connection = child.stdio[3] as Socket;
    let answers = "";
    connection.on("data", (text) => (answers += text.toString()));
    const { permitFile, stdout, stderr, cwd } = launch(["true"]);
    const fields = ["1", "", "mark", cwd, "/dev/null", stdout, stderr, permitFile, 3, "sh", "-c", "exit 5"];
    const request = Buffer.from(`0000${fields.join("\0")}`);
    request.writeUInt32BE(request.length - 4);
    connection.write(request);
    await until("the end of the process", () => answers.includes("x 1"));
    connection.end();
    await once(child, "exit");
    expect(answers).to.match(/^ready\ns 1 \d+\nx 1 1280 \d+ 0\n(r s1 \d+\n)?$/);
  });
});
