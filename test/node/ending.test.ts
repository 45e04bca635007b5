import { expect } from "chai";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Teardown } from "../../src/node/teardown.ts";
import { TSX } from "../support/test-programs.ts";
import { until } from "../support/until.ts";

const source = (file: string) => JSON.stringify(new URL(`../../src/${file}`, import.meta.url).href);

/** Starts a process that runs `script` as a module. */
function runScript(script: string): ChildProcess {
  const args = ["--import", TSX, "--input-type=module", "-e", script];
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The pid that a started process prints: that of its own child. */
async function printedPid(child: ChildProcess): Promise<number> {
  const [text] = (await once(child.stdout!, "data")) as [Buffer];
  return Number(text.toString());
}

describe("the end of a process", () => {
  it("ends its parts in the reverse order of their start, also when one fails", async () => {
    const ended: string[] = [];
    const warnings: string[] = [];
    const teardown = new Teardown({ warn: (_, message) => warnings.push(message) });
    teardown.add("the store", () => void ended.push("store"));
    teardown.add("the feed", () => Promise.reject(new Error("gone")));
    teardown.add("the edge", () => void ended.push("edge"));
    await Promise.all([teardown.end(), teardown.end()]);
    expect(ended).to.deep.equal(["edge", "store"]);
    expect(warnings).to.deep.equal(["the feed did not end cleanly"]);
  });

  it("ends another process through its lifeline, even after SIGKILL", async () => {
    const ours = runScript(`
      import { spawn } from "node:child_process";
      import { endWithThisProcess } from ${source("node/lifeline.ts")};
      const child = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
      endWithThisProcess(child.pid);
      process.stdout.write(String(child.pid));
      setInterval(() => {}, 1000);
    `);
    const pid = await printedPid(ours);
    expect(isAlive(pid)).to.equal(true);
    ours.kill("SIGKILL");
    await until("the other process ended", () => !isAlive(pid));
  });

  it("leaves the other process alone when the lifeline was cancelled", async () => {
    const ours = runScript(`
      import { spawn } from "node:child_process";
      import { endWithThisProcess } from ${source("node/lifeline.ts")};
      const child = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
      const cancel = endWithThisProcess(child.pid);
      cancel();
      process.stdout.write(String(child.pid), () => process.exit());
    `);
    const exit = once(ours, "exit");
    const pid = await printedPid(ours);
    try {
      await exit;
      expect(isAlive(pid)).to.equal(true);
    } finally {
      process.kill(pid, "SIGKILL");
    }
  });

  it("kills a process group", async () => {
    const ours = runScript(`
      import { spawn } from "node:child_process";
      import { killAtExit } from ${source("node/kill-at-exit.ts")};
      const child = spawn("sh", ["-c", "sleep 60 & wait"], { detached: true, stdio: "ignore" });
      killAtExit(child.pid);
      process.stdout.write(String(child.pid), () => process.exit(3));
    `);
    const exit = once(ours, "exit");
    const pid = await printedPid(ours);
    expect((await exit)[0]).to.equal(3);
    await until("the process ended", () => !isAlive(pid));
  });

  it("is orderly at the first signal and its echo, and immediate at a later signal", async () => {
    const ours = runScript(`
      import { listenForInterruption } from ${source("cli/interruption.ts")};
      const { signal } = listenForInterruption();
      signal.addEventListener("abort", () => process.stdout.write(signal.reason.message));
      process.stdout.write("listening");
      setInterval(() => {}, 1000);
    `);
    const exit = once(ours, "exit");
    await once(ours.stdout!, "data");
    ours.kill("SIGINT");
    const [text] = (await once(ours.stdout!, "data")) as [Buffer];
    expect(text.toString()).to.equal("ended by SIGINT");
    const askedAt = performance.now();
    await until("the process ended", () => {
      ours.kill("SIGINT");
      return ours.exitCode !== null;
    });
    expect((await exit)[0]).to.equal(130);
    expect(performance.now() - askedAt).to.be.greaterThan(300);
  });
});
