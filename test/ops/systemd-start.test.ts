/**
 * The units for systemd, started by a real systemd: that of a container whose file system is this machine's. `CONTAINERS=whole`
 * alone, as root, where Podman works and systemd is installed.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { openTestEngine, type TestEngine } from "../support/container-engine.ts";
import { buildProgram } from "../support/processes.ts";
import { until } from "../support/until.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const MACHINE = fileURLToPath(new URL("systemd-machine.sh", import.meta.url));
const PROGRAMS = ["/lib/systemd/systemd", "/usr/bin/curl"];
const NAME = `millrace-systemd-${process.pid}`;
const API = "http://127.0.0.1:8080";
const ADMIN = "authorization: Bearer an-administrator-token-for-this-test-only";

const isPossible = process.env["CONTAINERS"] === "whole" && process.getuid?.() === 0 && PROGRAMS.every(existsSync);
const engine = isPossible ? await openTestEngine() : undefined;

if (engine?.kind === "podman")
  describe("units for systemd", function () {
    this.timeout(240_000);
    let folder: string;
    let machine: ReturnType<typeof spawn>;
    let said = "";
    before(async () => {
      await buildProgram();
      folder = await mkdtemp(join(tmpdir(), "millrace-systemd-"));
      const args = ["--mount", "/bin/sh", MACHINE, folder, PROJECT, NAME, process.execPath];
      machine = spawn("unshare", args, { stdio: ["ignore", "pipe", "pipe"] });
      for (const stream of [machine.stdout!, machine.stderr!]) stream.on("data", (data) => (said += String(data)));
      await until("systemd", async () => {
        if (machine.exitCode !== null) throw new Error(`the machine has ended: ${said}`);
        return (await inside("systemctl", "is-active", "test.target")) === "active";
      });
    });
    after(async () => {
      const gone = machine.exitCode === null ? once(machine, "exit") : undefined;
      await engine.ask("rm", "-f", "-t", "0", NAME).catch(() => "");
      await gone;
      await rm(folder, { recursive: true, force: true });
    });

    const inside = (...command: readonly string[]): Promise<string> => ask(engine, command);
    const property = (unit: string, name: string) => inside("systemctl", "show", "--value", "-p", name, unit);
    const journal = (unit: string) => inside("journalctl", "--no-pager", "-n", "20", "-u", unit);
    const agents = async (): Promise<readonly Record<string, unknown>[]> => {
      const answer = await inside("curl", "-s", "-H", ADMIN, `${API}/api/v1/agents`);
      return answer === "" ? [] : JSON.parse(answer).detail.list;
    };
    const agentOnline = (what: string) =>
      until(what, async () => (await agents()).find(({ online }) => online === true), 60_000).catch(async (error) => {
        throw new Error(`${error}\n${await journal("millrace-node@main")}\n${await journal("millrace-agent@1")}`);
      });

    it("run a node and an agent as their own users, start what was killed again, and stop in order", async () => {
      await inside("systemctl", "--no-block", "start", "millrace-node@main", "millrace-agent@1");
      const agent = await agentOnline("the agent");
      // The unit delegates control groups to the agent.
      expect(agent).to.have.property("labels").that.includes({ "step-isolation": "cgroup" });
      const users = await inside("ps", "-o", "user:20=", "-p", await property("millrace-agent@1", "MainPID"));
      expect(users).to.equal("millrace-agent");
      const killed = await property("millrace-node@main", "MainPID");
      await inside("systemctl", "kill", "--kill-who=main", "-s", "KILL", "millrace-node@main");
      await until("another node", async () => {
        const pid = await property("millrace-node@main", "MainPID");
        return pid !== killed && pid !== "0";
      });
      await until("its answer", async () => (await inside("curl", "-s", `${API}/readyz`)).includes('"ready"'), 60_000);
      await agentOnline("the agent at the other node");
      await inside("systemctl", "stop", "millrace-agent@1", "millrace-node@main");
      for (const unit of ["millrace-agent@1", "millrace-node@main"]) {
        expect(await property(unit, "ActiveState"), await journal(unit)).to.equal("inactive");
      }
    });
  });

/** The output of a command in the machine; empty when it fails. */
async function ask(podman: TestEngine, command: readonly string[]): Promise<string> {
  return (await podman.ask("exec", NAME, ...command).catch(() => "")).trim();
}
