/**
 * The launcher and its supervisors, without an agent: they kill what steps leave behind, and leave nothing when they
 * die.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { type LaunchedProcess, Launcher } from "../../../src/agent/process/launcher.ts";
import { BY_MARK } from "../../../src/agent/process/step-isolation.ts";
import { until } from "../../support/until.ts";
import { processesWith, SILENT, sleepOf } from "../test-agent.ts";

for (const isolation of [BY_MARK, { ...BY_MARK, starter: "perl" } as const]) {
  describe(`the launcher${"starter" in isolation ? " with starters" : ""}`, () => {
    let folder: string;
    let launcher: Launcher;
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), "millrace-launcher-"));
      await writeFile(join(folder, "permit"), "");
      launcher = new Launcher(SILENT, undefined, isolation);
    });
    afterEach(async () => {
      await launcher.close();
      await rm(folder, { recursive: true });
    });

    const markOf = (lease: number) => `${basename(folder)}-${lease};`;
    const start = (script: string, lease = 1): Promise<LaunchedProcess> =>
      launcher.start({
        command: ["sh", "-c", script],
        cwd: folder,
        env: { PATH: process.env["PATH"] ?? "" },
        stdout: "/dev/null",
        stderr: "/dev/null",
        leaseMark: markOf(lease),
        permitFile: join(folder, "permit"),
      });

    it("has killed every process of a step, however it hides, when it reports the step gone", async () => {
      const hidings = [
        `${sleepOf(95)} &`,
        `setsid ${sleepOf(95)} &`,
        `(setsid ${sleepOf(95)} &) &`,
        `setsid sh -c 'setsid sh -c "setsid ${sleepOf(95)} & ${sleepOf(95)}" & env -i ${sleepOf(95)}' &`,
        // Long enough for the position of its process id to expire.
        `setsid ${sleepOf(95)} & sleep 0.3`,
        `trap '' HUP TERM; setsid ${sleepOf(95)} >/dev/null 3>&- & kill -9 $$`,
      ];
      for (let round = 0; round < 8; round++) {
        const steps = await Promise.all(hidings.map((script) => start(script)));
        await Promise.all(steps.map((step) => step.gone));
        expect(await processesWith(sleepOf(95)), `round ${round}`).to.deep.equal([]);
      }
    });

    it("kills a process that a step starts at the moment of its end", async () => {
      const endings = ["", ":; :", "read -r line </dev/null"];
      for (let count = 0; count < 300; count++) {
        await (
          await start(`setsid ${sleepOf(99)} & ${endings[count % endings.length]}`)
        ).gone;
      }
      expect(await processesWith(sleepOf(99))).to.deep.equal([]);
    });

    it("kills no process of another step", async () => {
      const other = await start(`setsid ${sleepOf(96)} & ${sleepOf(96)}`);
      await until("its processes", async () => (await processesWith(sleepOf(96))).length === 3);
      for (let count = 0; count < 20; count++) await (await start("setsid true & true")).gone;
      expect(await processesWith(sleepOf(96))).to.have.length(3);
      other.kill();
      expect(await other.exited).to.include({ code: null, signal: "SIGKILL" });
      await other.gone;
      expect(await processesWith(sleepOf(96))).to.deep.equal([]);
    });

    it("leaves no process when it is killed, and its steps end without an exit", async () => {
      const step = await start(`setsid ${sleepOf(97)} & ${sleepOf(97)}`);
      await until("its processes", async () => (await processesWith(sleepOf(97))).length === 3);
      process.kill((await processesWith("launcher-main", process.pid))[0]!, "SIGKILL");
      expect(await step.exited).to.equal(undefined);
      await step.gone;
      expect(await processesWith(sleepOf(97))).to.deep.equal([]);
      await launcher.whenReady();
      expect(await (await start("exit 3")).exited).to.include({ code: 3, signal: null });
    });

    it("leaves no process when it is killed, also when a step has stopped what should kill the step", async () => {
      // It must not stop the process that tells of its start.
      const begin = "until [ -e told ]; do sleep 0.01; done";
      const step = await start(`${begin}; kill -STOP $PPID; setsid ${sleepOf(93)} & ${sleepOf(93)}`);
      await writeFile(join(folder, "told"), "");
      await until("its processes", async () => (await processesWith(sleepOf(93))).length === 3);
      process.kill((await processesWith("launcher-main", process.pid))[0]!, "SIGKILL");
      await step.gone;
      expect(await processesWith(sleepOf(93))).to.deep.equal([]);
    });

    it("keeps no supervisor for a lease that is no longer used", async () => {
      await (
        await start("true")
      ).gone;
      await until("a supervisor that waits", async () => (await processesWith(markOf(1))).length > 0);
      await (
        await start("true", 2)
      ).gone;
      await until("the end of the first", async () => (await processesWith(markOf(1))).length === 0);
    });

    it("leaves no process when it is closed", async () => {
      await start(`setsid ${sleepOf(98)} & ${sleepOf(98)}`);
      await until("its processes", async () => (await processesWith(sleepOf(98))).length === 3);
      await launcher.close();
      await until("the end of them", async () => (await processesWith(sleepOf(98))).length === 0, 2_000);
      await until("the end of its supervisors", async () => (await processesWith(markOf(1))).length === 0, 2_000);
    });

    it("is closed also when a step has stopped it", async () => {
      await start(sleepOf(91));
      process.kill((await processesWith("launcher-main", process.pid))[0]!, "SIGSTOP");
      await launcher.close();
      await until("the end of the step", async () => (await processesWith(sleepOf(91))).length === 0, 2_000);
    });

    if (!("starter" in isolation)) return;

    it("leaves no process when a starter is killed, of steps that have just begun and of those that run for long", async () => {
      const script = `setsid ${sleepOf(94)} & ${sleepOf(94)}`;
      const steps = [await start(script)];
      await sleep(300);
      steps.push(await start(script));
      await until("their processes", async () => (await processesWith(sleepOf(94))).length === 6);
      process.kill((await processesWith(markOf(1), process.pid))[0]!, "SIGKILL");
      for (const step of steps) {
        expect(await step.exited).to.equal(undefined);
        await step.gone;
      }
      expect(await processesWith(sleepOf(94))).to.deep.equal([]);
      expect(await (await start("exit 6")).exited).to.include({ code: 6 });
    });

    it("starts short steps while its process hangs, and ends the others when it is killed then", async () => {
      const pid = (await processesWith("launcher-main", process.pid))[0]!;
      process.kill(pid, "SIGSTOP");
      const short = await start("exit 7");
      expect(await short.exited).to.include({ code: 7 });
      await short.gone;
      const [long, left] = [await start(sleepOf(92)), await start(`setsid ${sleepOf(92)} & exit 8`)];
      await sleep(200);
      process.kill(pid, "SIGKILL");
      expect(await long.exited).to.equal(undefined);
      expect(await left.exited).to.include({ code: 8 });
      await Promise.all([long.gone, left.gone]);
      expect(await processesWith(sleepOf(92))).to.deep.equal([]);
    });
  });
}
