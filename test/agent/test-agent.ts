/** Starts agents for tests: in this process, or as separate processes that a test can kill. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Logger } from "../../src/domain/logger.ts";
import type { AgentOptions } from "../../src/agent/options.ts";
import { type AgentEnd, runAgent } from "../../src/agent/run-agent.ts";
import { commandOf } from "../support/test-programs.ts";
import { until } from "../support/until.ts";
import { REGISTRATION_TOKEN, TestGateway } from "./test-gateway.ts";

const silent = () => {};
export const SILENT: Logger = { debug: silent, info: silent, warn: silent, error: silent };

/** A gateway, a data directory, and the agents that a test starts. `end` removes all of them. */
export class AgentBench {
  readonly gateway = new TestGateway();
  dataDir = "";
  readonly #ends: (() => unknown)[] = [];

  async open(): Promise<this> {
    await this.gateway.start();
    this.dataDir = await mkdtemp(join(tmpdir(), "millrace-agent-"));
    return this;
  }

  /** Starts an agent in this process and waits for its hello. */
  async start(options: Partial<AgentOptions> = {}): Promise<TestAgent> {
    const agent = new TestAgent(this.options(options));
    this.#ends.push(() => agent.kill());
    await agent.ready;
    return agent;
  }

  /** Ends the agents that were started here, and starts one with other options. */
  async restart(options: Partial<AgentOptions>): Promise<TestAgent> {
    for (const end of this.#ends.splice(0)) await end();
    return this.start(options);
  }

  /**
   * Starts an agent as a separate process, in a process group of its own. It loads the modules `imports` before all
   * others, and so does its launcher. `args`: further arguments of `agent-main.ts`.
   */
  async spawn(imports: readonly string[] = [], args: readonly string[] = []): Promise<ChildProcess> {
    const hellos = this.gateway.hellos.length;
    const main = fileURLToPath(new URL("agent-main.ts", import.meta.url));
    const loaded = imports.flatMap((name) => ["--import", name]);
    const child = spawn(
      process.execPath,
      [...loaded, ...commandOf(main), this.gateway.address, this.dataDir, ...args],
      {
        stdio: ["ignore", "ignore", "inherit"],
        detached: true,
      },
    );
    this.#ends.push(() => child.kill("SIGKILL"));
    await until("the hello of the agent's process", () => this.gateway.hellos.length > hellos);
    return child;
  }

  options(options: Partial<AgentOptions> = {}): AgentOptions {
    return {
      address: this.gateway.address,
      dataDir: this.dataDir,
      name: "tester",
      labels: { team: "test" },
      slots: 2,
      registrationToken: REGISTRATION_TOKEN,
      log: SILENT,
      facts: true,
      minFreeDisk: { bytes: 0, percent: 0 },
      logBufferBytes: 64 * 1024 * 1024,
      drainTimeoutMs: 5_000,
      ...options,
    };
  }

  async end(): Promise<void> {
    for (const end of this.#ends.splice(0)) await end();
    this.gateway.stop();
    await rm(this.dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

export class TestAgent {
  readonly ready: Promise<void>;
  /** Settles as `runAgent` does. */
  readonly ended: Promise<AgentEnd>;
  readonly #stop = new AbortController();
  readonly #kill = new AbortController();

  constructor(options: AgentOptions) {
    let isReady = silent;
    const welcomed = new Promise<void>((resolve) => (isReady = resolve));
    this.ended = runAgent({ ...options, onReady: () => isReady(), killSignal: this.#kill.signal }, this.#stop.signal);
    this.ready = Promise.race([welcomed, this.ended.then(silent)]);
    this.ended.catch(() => {});
  }

  /** Asks the agent to end. Resolves when it has ended. */
  stop(): Promise<AgentEnd> {
    this.#stop.abort();
    return this.ended;
  }

  async kill(): Promise<void> {
    this.#kill.abort();
    await this.stop().catch(silent);
  }
}

/**
 * A shell command that waits for this time. Its last digits are the id of this process, so that {@link processesWith}
 * finds no command of a test in another process.
 */
export function sleepOf(seconds: number): string {
  return `sleep ${seconds.toFixed(1)}${String(process.pid).padStart(8, "0")}`;
}

/** The ids of processes whose command line contains `text`; only children of `parent` if it is given. */
export async function processesWith(text: string, parent?: number): Promise<number[]> {
  const ps = spawn("ps", ["-eo", "pid=,ppid=,stat=,args="], { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  for await (const chunk of ps.stdout) output += String(chunk);
  return output
    .split("\n")
    .map((line) => /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line))
    .filter((row) => row !== null && !row[3]!.startsWith("Z") && row[4]!.includes(text))
    .filter((row) => parent === undefined || Number(row![2]) === parent)
    .map((row) => Number(row![1]));
}
