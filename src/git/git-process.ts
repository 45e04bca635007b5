/**
 * Runs the machine's Git: without a shell, without the settings of the machine or user, without hooks and prompts, within
 * bounds of time, output, file size and memory.
 */
import { spawn } from "node:child_process";
import { findOnPath } from "../program-path.ts";
import { type Setting, settingsAsVariables } from "./git-settings.ts";

/** Variables and settings that let a command reach one repository. */
export interface GitAccess {
  readonly env: Readonly<Record<string, string>>;
  readonly settings: readonly Setting[];
  /** Texts that must not appear in any message. */
  readonly secrets: readonly string[];
}

/** Access for which files were made. */
export interface OpenAccess extends GitAccess {
  /** Removes the files. */
  close(): Promise<void>;
}

export interface GitCall {
  readonly args: readonly string[];
  /** The bare repository; absent for a command that needs none. */
  readonly repository?: string;
  /** An empty folder in place of the user's home. */
  readonly home: string;
  /** Absent: the command may not reach any other repository, not even for a missing object. */
  readonly access?: GitAccess;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Buffer;
  /** Git may fetch an object that it finds missing. */
  readonly fetchesMissing?: boolean;
  readonly timeoutMs: number;
  /** Most bytes of output; more end the command. */
  readonly maxOutput: number;
  /** The largest file that the command may write, where `prlimit` is installed. */
  readonly maxFileBytes: number;
}

export type GitAnswer =
  | { readonly end: "exited"; readonly code: number; readonly stdout: Buffer; readonly stderr: string }
  | { readonly end: "timedOut" | "tooMuchOutput" | "notStarted" };

const KEPT_CHARS = 16_384;
/** Address space of each process of Git: an object that is made to fill the memory fails there. */
const MAX_MEMORY_BYTES = 4 * 2 ** 30;

const SETTINGS: readonly Setting[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.askPass", ""],
  ["core.protectHFS", "true"],
  ["core.protectNTFS", "true"],
  // Larger objects are streamed and not held in memory.
  ["core.bigFileThreshold", "16m"],
  ["credential.helper", ""],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["fetch.fsckObjects", "true"],
  ["fetch.recurseSubmodules", "false"],
  ["submodule.recurse", "false"],
  ["transfer.bundleURI", "false"],
  ["protocol.version", "2"],
  ["http.followRedirects", "false"],
  // A connection that transfers nothing for this long is broken. Also ends a Git that outlives its node.
  ["http.lowSpeedLimit", "1"],
  ["http.lowSpeedTime", "30"],
  ["i18n.commitEncoding", "utf-8"],
  ["pack.threads", "1"],
  // A push would look for objects that it could send as differences, and mirrors do not have them.
  ["pack.window", "0"],
];

/** Never rejects. Ends the whole process group of a command that exceeds a bound. */
export function runGit(call: GitCall): Promise<GitAnswer> {
  const { access = { env: {}, settings: [] } } = call;
  return new Promise((resolve) => {
    const git = findOnPath("git");
    if (git === undefined) return resolve({ end: "notStarted" });
    const [command, args] = bounded([git, ...call.args], call.maxFileBytes);
    const child = spawn(command, args, {
      stdio: ["pipe", "pipe", "pipe"],
      // A process group of its own.
      detached: true,
      env: {
        PATH: process.env["PATH"],
        ...(process.env["TMPDIR"] && { TMPDIR: process.env["TMPDIR"] }),
        HOME: call.home,
        XDG_CONFIG_HOME: call.home,
        LC_ALL: "C",
        GIT_TERMINAL_PROMPT: "0",
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_CONFIG_GLOBAL: "/dev/null",
        GIT_ATTR_NOSYSTEM: "1",
        GIT_LITERAL_PATHSPECS: "1",
        ...(call.fetchesMissing !== true && { GIT_NO_LAZY_FETCH: "1" }),
        GIT_NO_REPLACE_OBJECTS: "1",
        GIT_OPTIONAL_LOCKS: "0",
        // None, unless the access names one.
        GIT_ALLOW_PROTOCOL: "none",
        ...(call.repository !== undefined && { GIT_DIR: call.repository }),
        ...call.env,
        ...access.env,
        ...settingsAsVariables([...SETTINGS, ...access.settings]),
      },
    });
    let end: "timedOut" | "tooMuchOutput" | undefined;
    const stop = (why: typeof end): void => {
      end ??= why;
      killGroup(child.pid);
    };
    const timer = setTimeout(() => stop("timedOut"), Math.max(0, call.timeoutMs));
    const printed: Buffer[] = [];
    let bytes = 0;
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > call.maxOutput) stop("tooMuchOutput");
      else printed.push(chunk);
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr = (stderr + chunk.toString("latin1")).slice(-KEPT_CHARS);
    });
    child.stdin.on("error", () => {}); // The command ended without reading it.
    child.stdin.end(call.stdin ?? "");
    child.once("error", () => {
      clearTimeout(timer);
      resolve({ end: "notStarted" });
    });
    child.once("close", (code) => {
      clearTimeout(timer);
      if (end !== undefined) return resolve({ end });
      resolve({
        end: "exited",
        code: code ?? 128,
        stdout: Buffer.concat(printed),
        stderr: Buffer.from(stderr, "latin1").toString("utf8"),
      });
    });
  });
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // The group has ended.
  }
}

let prlimit: string | null | undefined;

/** The command under the limits of the kernel, where `prlimit` is on PATH. */
function bounded(command: readonly [string, ...string[]], maxFileBytes: number): [string, string[]] {
  prlimit ??= findOnPath("prlimit") ?? null;
  const [program, ...args] = command;
  if (prlimit === null) return [program, args];
  const limits = [`--fsize=${maxFileBytes}`, `--as=${MAX_MEMORY_BYTES}`, "--core=0"];
  return [prlimit, [...limits, "--", program, ...args]];
}
