/** Runs the machine's Git without prompts, without the settings of the machine or user, and without hooks. */
import { spawn } from "node:child_process";
import { type Setting, settingsAsVariables } from "../../../git/git-settings.ts";
import { type CheckoutFault, CheckoutProblem, problemOf } from "./checkout-problem.ts";

/** The first version that reads settings from the environment. */
const OLDEST = [2, 31] as const;
/** Upper bound on the output that is kept: the list of all branches and tags is long in large repositories. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** How many characters at the end of Git's messages are kept to find the fault. */
const KEPT_CHARS = 16_384;

const SETTINGS: readonly Setting[] = [
  ["safe.directory", "*"],
  ["init.defaultBranch", "main"],
  // No maintenance in the background: it would be killed at the end of the step.
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  // A connection that transfers nothing for a minute counts as broken.
  ["http.lowSpeedLimit", "1"],
  ["http.lowSpeedTime", "60"],
];

export interface GitOptions {
  /** The working directory. */
  readonly cwd: string;
  /** An empty folder that replaces the user's home, where Git would read settings and libcurl would read passwords. */
  readonly home: string;
  /** The environment. Among the variables of Git it must hold only intended ones. */
  readonly env: NodeJS.ProcessEnv;
  /** The transports that Git may use, for submodules too: `https`, `ssh`, `file` and so on. */
  readonly transports: readonly string[];
}

/** Variables and settings that give a command access to the repository. */
export interface GitAccess {
  readonly env: Readonly<Record<string, string>>;
  readonly settings: readonly Setting[];
}

export interface GitFailure {
  readonly stderr: string;
}

export class Git {
  readonly #options: GitOptions;

  constructor(options: GitOptions) {
    this.#options = options;
  }

  /** Rejects with `noGit` when the machine has no Git, or only an older version. */
  async checkVersion(): Promise<void> {
    const text = await this.run(["version"], "asking Git for its version");
    const [, major, minor] = /(\d+)\.(\d+)/.exec(text) ?? [];
    const isOld = Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]);
    if (major !== undefined && !isOld) return;
    throw new CheckoutProblem("noGit", `this machine has ${text.trim()}: Git ${OLDEST.join(".")} or later is needed`);
  }

  /**
   * Runs a command and returns its output. `what` names the action for users. Rejects with a {@link CheckoutProblem}.
   */
  async run(args: readonly string[], what: string, access?: GitAccess): Promise<string> {
    const answer = await this.try(args, access);
    if (typeof answer === "string") return answer;
    throw problemOf(answer.stderr, what);
  }

  /** Runs a command whose failure is expected. Rejects only when Git cannot be started. */
  try(args: readonly string[], { env, settings }: GitAccess = { env: {}, settings: [] }): Promise<string | GitFailure> {
    const { cwd, home, transports } = this.#options;
    return new Promise((resolve, reject) => {
      const child = spawn("git", args, {
        cwd,
        stdio: ["ignore", "pipe", "pipe"],
        env: {
          ...this.#options.env,
          HOME: home,
          LC_ALL: "C",
          GIT_TERMINAL_PROMPT: "0",
          GIT_CONFIG_NOSYSTEM: "1",
          GIT_ATTR_NOSYSTEM: "1",
          // Without a template, a new repository has no hooks.
          GIT_TEMPLATE_DIR: "",
          GIT_ALLOW_PROTOCOL: transports.join(":"),
          GIT_SSH_COMMAND: "ssh -o BatchMode=yes -o ConnectTimeout=30 -o ServerAliveInterval=15",
          GIT_SSH_VARIANT: "ssh",
          ...env,
          ...settingsAsVariables([...SETTINGS, ...settings]),
        },
      });
      const printed: Buffer[] = [];
      let bytes = 0;
      let stderr = "";
      child.stdout.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= MAX_ANSWER_BYTES) printed.push(chunk);
      });
      child.stderr.on("data", (chunk: Buffer) => {
        process.stderr.write(chunk);
        stderr = (stderr + chunk.toString("latin1")).slice(-KEPT_CHARS);
      });
      child.once("error", (error: NodeJS.ErrnoException) => {
        const fault: CheckoutFault = error.code === "ENOENT" ? "noGit" : "other";
        const says = fault === "noGit" ? "install it, or choose an agent that has it" : error.message;
        reject(new CheckoutProblem(fault, `no Git can be started on this agent's machine: ${says}`));
      });
      child.once("close", (code) => resolve(code === 0 ? Buffer.concat(printed).toString() : { stderr }));
    });
  }
}
