/**
 * Real processes of the program for end-to-end tests. Everything that a {@link ProcessWorld} starts, and whatever that
 * starts in turn, carries the world's folder in its environment: so what stays behind can be found, and is ended.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { until } from "./until.ts";

/** For `--import`: lets node run the sources from any folder. */
export const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** The program as users start it, in a quarter of the time that the sources take. {@link ProcessWorld.create} builds it. */
export const PROGRAM = join(ROOT, "dist/src/main.js");
const SETUP = join(ROOT, "scripts/setup.mjs");

let built: Promise<unknown> | undefined;

/** Compiles the program unless it is newer than its sources, which are looked at once in each test process. */
function buildProgram(): Promise<unknown> {
  return (built ??= promisify(execFile)(process.execPath, [SETUP, "--build"]));
}

const READY_MS = 30_000;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface StartOptions {
  /** Added to a small environment without any of our own variables. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What it reads from standard input; nothing when absent. */
  readonly input?: string;
  /** A file of the tests, in TypeScript, to run instead of the program. */
  readonly program?: string;
}

/** A started process; it leads a process group of its own, as under a shell with job control. */
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

  /** Signals the process alone. */
  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** What Ctrl-C does: SIGINT to the whole foreground process group. */
  pressCtrlC(): void {
    process.kill(-this.pid, "SIGINT");
  }

  /** Resolves when stdout and stderr together hold `text`; rejects with all output when the process ends before. */
  async prints(text: string | RegExp, deadlineMs = READY_MS): Promise<string> {
    const output = () => `${this.#stdout}\n${this.#stderr}`;
    const wanted = typeof text === "string" ? text : text.source;
    const found = () => (typeof text === "string" ? output().includes(text) : text.test(output()));
    await until(
      `${wanted} in the output`,
      () => {
        if (found()) return true;
        if (!this.running) throw new Error(`ended before it printed ${wanted}:\n${output()}`);
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
  /** `host:port` of each listener that the roles have. */
  readonly http: string | null;
  readonly grpc: string | null;
  readonly metrics: string | null;
}

const sourcesOf = (file: string): readonly string[] => ["--import", TSX, join(ROOT, file)];

/**
 * Ends what is left of a world when this process is gone, however it went: its standard input closes then. $1: the folder.
 * A Redis server writes its title, which names its socket in the folder, over the environment that it was given.
 */
const SWEEPER = `
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
  /** A temporary folder, removed at the end; the place for data directories. */
  readonly folder: string;
  readonly #started: StartedProcess[] = [];
  readonly #sweeper: ChildProcess;

  private constructor(folder: string) {
    this.folder = folder;
    // Never told anything: it waits for the end of its input. It must not keep this process alive.
    const sweeper = spawn("sh", ["-c", SWEEPER, "sh", folder], { stdio: ["pipe", "ignore", "ignore"], detached: true });
    sweeper.unref();
    (sweeper.stdin as Socket).unref();
    this.#sweeper = sweeper;
  }

  static async create(): Promise<ProcessWorld> {
    await buildProgram();
    return new ProcessWorld(await mkdtemp(join(tmpdir(), "millrace-world-")));
  }

  /** Starts the program. */
  start(args: readonly string[], { env = {}, cwd = ROOT, input, program }: StartOptions = {}): StartedProcess {
    const { PATH = "", HOME = "", REDIS_BINARY } = process.env;
    const child = spawn(process.execPath, [...(program === undefined ? [PROGRAM] : sourcesOf(program)), ...args], {
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
    child.stdin?.end(input);
    const started = new StartedProcess(child);
    this.#started.push(started);
    return started;
  }

  /** Starts `serve` on free loopback ports and resolves when it is ready. */
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

  /** Starts an agent; it is online when the control plane lists it so. */
  agent(gateway: string, { env = {}, ...options }: StartOptions = {}): StartedProcess {
    return this.start(["agent", "--gateway", gateway], {
      ...options,
      env: { MILLRACE_DATA_DIR: join(this.folder, `agent-${this.#started.length}`), ...env },
    });
  }

  /** Processes of this world that live, whoever started them. Linux alone. */
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

  /** Kills everything that is left, and removes the folder. */
  async end(): Promise<void> {
    await until("every process of the world ended", async () => {
      const left = await this.alive();
      for (const { pid } of left) killIfThere(pid);
      return left.length === 0;
    });
    await Promise.all(this.#started.map(({ exited }) => exited.catch(() => undefined)));
    await rm(this.folder, { recursive: true, force: true });
    this.#sweeper.stdin!.end();
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
