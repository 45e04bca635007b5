/** Runs the machine's Git as a program that asks nobody, reads no settings but ours and runs nothing of a repository's. */
import { spawn } from "node:child_process";
import { type CheckoutFault, CheckoutProblem, problemOf } from "./checkout-problem.ts";

/** For settings in the environment. */
const OLDEST = [2, 31] as const;
/** A list of all branches and tags is long in large repositories. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** Of what Git says: as much as its last words take. */
const KEPT_CHARS = 16_384;

export type Setting = readonly [key: string, value: string];

const SETTINGS: readonly Setting[] = [
  ["safe.directory", "*"],
  ["init.defaultBranch", "main"],
  // What would go on in the background would be killed with the step.
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  // A connection over which nothing comes for a minute is broken.
  ["http.lowSpeedLimit", "1"],
  ["http.lowSpeedTime", "60"],
];

export interface GitOptions {
  /** Where it runs. */
  readonly cwd: string;
  /** A folder without settings, in the place of the user's home: Git would look for them there, and libcurl for passwords. */
  readonly home: string;
  /** Without variables of Git's own but those that are wanted. */
  readonly env: NodeJS.ProcessEnv;
  /** Of `ext`, `file` and the like: which Git may use, submodules included. */
  readonly transports: readonly string[];
}

/** What a command may know of a credential. */
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

  /** Rejects with `noGit` when the machine has none that will do. */
  async checkVersion(): Promise<void> {
    const text = await this.run(["version"], "asking Git for its version");
    const [, major, minor] = /(\d+)\.(\d+)/.exec(text) ?? [];
    const isOld = Number(major) < OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) < OLDEST[1]);
    if (major !== undefined && !isOld) return;
    throw new CheckoutProblem("noGit", `this machine has ${text.trim()}: Git ${OLDEST.join(".")} or later is needed`);
  }

  /** Answers what it prints; `what` is tried, for people. Rejects with a {@link CheckoutProblem}. */
  async run(args: readonly string[], what: string, access?: GitAccess): Promise<string> {
    const answer = await this.try(args, access);
    if (typeof answer === "string") return answer;
    throw problemOf(answer.stderr, what);
  }

  /** As `run`, where a failure is expected. */
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
          // Hooks come out of it alone.
          GIT_TEMPLATE_DIR: "",
          GIT_ALLOW_PROTOCOL: transports.join(":"),
          GIT_SSH_COMMAND: "ssh -o BatchMode=yes -o ConnectTimeout=30 -o ServerAliveInterval=15",
          GIT_SSH_VARIANT: "ssh",
          ...env,
          ...asEnvironment([...SETTINGS, ...settings]),
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

function asEnvironment(settings: readonly Setting[]): Record<string, string> {
  const pairs = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ]);
  return { ...(Object.fromEntries(pairs) as Record<string, string>), GIT_CONFIG_COUNT: String(settings.length) };
}
