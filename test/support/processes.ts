/**
 * Real processes of the program for end-to-end tests. Every process that a {@link ProcessWorld} starts, and every
 * descendant of such a process, carries the world's folder in its environment. The world finds leftover processes by
 * that folder and kills them.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { commandOf } from "./test-programs.ts";
import { until } from "./until.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/**
 * The compiled program; it starts in a quarter of the time that the sources take. {@link ProcessWorld.create} builds
 * it.
 */
export const PROGRAM = join(ROOT, "dist/src/main.js");
const SETUP = join(ROOT, "scripts/setup.mjs");

let built: Promise<unknown> | undefined;

/** Compiles the program unless it is newer than its sources. Each test process compares it with the sources once. */
export function buildProgram(): Promise<unknown> {
  return (built ??= promisify(execFile)(process.execPath, [SETUP, "--build"]));
}

/** Twice what a start takes while all tests run: the files beside it have the processors first. */
const READY_MS = 60_000;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface StartOptions {
  /** Added to a small environment that holds none of the program's own variables. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The program `node` that runs it; default: that of this process. */
  readonly node?: string;
  /** Text that the process reads from its standard input; nothing when absent. */
  readonly input?: string;
  /** What the command line begins with: a program that starts the given command. Default: nothing. */
  readonly through?: readonly string[];
  /** A TypeScript file of the tests, relative to the root, that runs instead of the program. */
  readonly program?: string;
}

/** A started process. It leads its own process group, as under a shell with job control. */
export class StartedProcess {
  /** Resolves when the process has ended and its output is complete. */
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcess;
  #stdout = "";
  #stderr = "";

  constructor(child: ChildProcess) {
    this.#child = child;
    child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.#stdout += text));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#stderr += text));
    this.exited = new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code, signal) => resolve({ code, signal }));
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  get running(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Sends the signal to this process only, not to its group. */
  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends SIGINT to the whole process group, as Ctrl-C in a terminal does. */
  pressCtrlC(): void {
    process.kill(-this.pid, "SIGINT");
  }

  /**
   * Resolves when stdout and stderr together hold `text`. Rejects with all output when the process ends before that.
   */
  async prints(text: string | RegExp, deadlineMs = READY_MS): Promise<string> {
    const output = () => `${this.#stdout}\n${this.#stderr}`;
    const expected = typeof text === "string" ? text : text.source;
    const found = () => (typeof text === "string" ? output().includes(text) : text.test(output()));
    await until(
      `${expected} in the output`,
      () => {
        if (found()) return true;
        if (!this.running) throw new Error(`ended before it printed ${expected}:\n${output()}`);
        return false;
      },
      deadlineMs,
    );
    return output();
  }
}

/** A node of the control plane that is ready. */
export interface ServeNode extends Pick<StartedProcess, "pid" | "kill" | "exited"> {
  readonly process: StartedProcess;
  /** `host:port` of each listener; null for a listener that the node's roles do not have. */
  readonly http: string | null;
  readonly grpc: string | null;
  readonly metrics: string | null;
}

/**
 * A shell script that kills the leftover processes of a world and removes its folder ($1) when the test process has
 * ended, even when the test process was killed: the script's standard input closes then. A Redis server overwrites its
 * environment with its process title; the title names the server's socket, which lies in the folder, so the script
 * finds the server too.
 */
const LEFTOVER_KILLER = `
cat >/dev/null
while files=$(grep -lsF -e "$1" /proc/[0-9]*/environ); [ -n "$files" ]; do
  for file in $files; do
    pid=\${file#/proc/}
    kill -KILL "\${pid%/environ}"
  done
  sleep 0.1
done
rm -rf "$1"`;

export class ProcessWorld {
  /** A temporary folder for data directories; `end` removes it. */
  readonly folder: string;
  readonly #started: StartedProcess[] = [];
  readonly #leftoverKiller: ChildProcess;

  private constructor(folder: string) {
    this.folder = folder;
    // The script reads nothing: it waits for the end of its input. It must not keep the test process alive.
    const killer = spawn("sh", ["-c", LEFTOVER_KILLER, "sh", folder], {
      stdio: ["pipe", "ignore", "ignore"],
      detached: true,
    });
    killer.unref();
    (killer.stdin as Socket).unref();
    this.#leftoverKiller = killer;
  }

  static async create(): Promise<ProcessWorld> {
    await buildProgram();
    return new ProcessWorld(await mkdtemp(join(tmpdir(), "millrace-world-")));
  }

  /** Starts the program with these arguments. */
  start(
    args: readonly string[],
    { env = {}, cwd = ROOT, node = process.execPath, input, program, through = [] }: StartOptions = {},
  ): StartedProcess {
    const { PATH = "", HOME = "", REDIS_BINARY } = process.env;
    const file = program === undefined ? [PROGRAM] : commandOf(join(ROOT, program));
    const [command = "", ...rest] = [...through, node, ...file, ...args];
    const child = spawn(command, rest, {
      cwd,
      env: {
        PATH,
        HOME,
        TMPDIR: this.folder,
        ...(REDIS_BINARY === undefined ? {} : { REDIS_BINARY }),
        MILLRACE_TEST_WORLD: this.folder,
        ...env,
      },
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
      detached: true,
    });
    // A program may end without having read it.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
    const started = new StartedProcess(child);
    this.#started.push(started);
    return started;
  }

  /** Starts `serve` on free loopback ports and resolves when the node is ready. */
  async serve(roles: string, { env = {}, ...options }: StartOptions = {}): Promise<ServeNode> {
    const node = this.start(["serve", "--roles", roles], {
      ...options,
      env: {
        MILLRACE_HTTP_ADDRESS: "127.0.0.1:0",
        MILLRACE_GRPC_ADDRESS: "127.0.0.1:0",
        MILLRACE_METRICS_ADDRESS: "127.0.0.1:0",
        MILLRACE_DATA_DIR: join(this.folder, "data"),
        LOG_LEVEL: "info",
        ...env,
      },
    });
    await node.prints('"msg":"ready"');
    const line = node.stderr.split("\n").find((text) => text.includes('"msg":"ready"'))!;
    const { http, grpc, metrics } = JSON.parse(line) as Pick<ServeNode, "http" | "grpc" | "metrics">;
    return { process: node, pid: node.pid, kill: node.kill.bind(node), exited: node.exited, http, grpc, metrics };
  }

  /** Starts an agent and does not wait: the agent is online once the control plane lists it as online. */
  agent(gateway: string, { env = {}, ...options }: StartOptions = {}): StartedProcess {
    return this.start(["agent", "--gateway", gateway], {
      ...options,
      env: { MILLRACE_DATA_DIR: join(this.folder, `agent-${this.#started.length}`), ...env },
    });
  }

  /** All living processes of this world, direct children or not. Works on Linux only. */
  async alive(): Promise<readonly { readonly pid: number; readonly command: string }[]> {
    const found = await Promise.all(
      (await readdir("/proc"))
        .filter((name) => /^\d+$/.test(name))
        .map(async (name) => {
          const read = (file: string) => readFile(join("/proc", name, file), "latin1").catch(() => "");
          // A process that has ended and waits to be reaped has an empty environment.
          if (!(await read("environ")).includes(this.folder)) return [];
          return [{ pid: Number(name), command: (await read("cmdline")).replaceAll("\0", " ").trim() }];
        }),
    );
    return found.flat();
  }

  /** Kills all processes that are left and removes the folder. */
  async end(): Promise<void> {
    await until("every process of the world ended", async () => {
      const left = await this.alive();
      for (const { pid } of left) killIfThere(pid);
      return left.length === 0;
    });
    await Promise.all(this.#started.map(({ exited }) => exited.catch(() => undefined)));
    await rm(this.folder, { recursive: true, force: true });
    this.#leftoverKiller.stdin!.end();
  }
}

/** Kills a process that may have ended. */
export function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
