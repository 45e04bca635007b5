/**
 * A container engine of this machine, by its own command line: Podman or Docker. Arguments are passed as they are, without
 * a shell. What an engine is asked here, both answer alike; {@link EngineKind} holds where they differ.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { join } from "node:path";
import type { Logger } from "../../domain/logger.ts";
import { findOnPath } from "../../program-path.ts";
import { engineEnvironment } from "../process/engine-environment.ts";
import { MARK } from "../process/kill-script.ts";

const ENGINE_KINDS = ["podman", "docker"] as const;
export type EngineKind = (typeof ENGINE_KINDS)[number];

/** What a question to the engine may take. An engine that hangs longer counts as broken. */
const ANSWER_MS = 60_000;
const FIRST_ANSWER_MS = 10_000;
const OUTPUT_BYTES = 4 * 1024 * 1024;

export interface EngineAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface EngineOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly input?: string;
}

export interface ClientOptions {
  /** The mark of the lease under which the client runs: the guard kills the client by it. */
  readonly mark: string;
  /** Without this file the client does not start. */
  readonly permitFile: string;
}

export class ContainerEngine {
  readonly kind: EngineKind;

  constructor(kind: EngineKind) {
    this.kind = kind;
  }

  /** The arguments that remove containers at once. */
  get removal(): readonly string[] {
    // Podman gives a container ten seconds to end, Docker kills it.
    return this.kind === "podman" ? ["rm", "-f", "-t", "0", "-v"] : ["rm", "-f", "-v"];
  }

  /** Arguments before `pull` or after it that name the folder with the credentials, which has a `config.json`. */
  pullArguments(image: string, authFolder: string | undefined): readonly string[] {
    if (this.kind === "docker") return [...(authFolder === undefined ? [] : ["--config", authFolder]), "pull", image];
    const auth = authFolder === undefined ? [] : ["--authfile", join(authFolder, "config.json")];
    return ["pull", ...auth, image];
  }

  /** The name by which a missing image is pulled. Podman asks which registry a short name means. */
  pulledName(image: string): string {
    const [first = "", ...rest] = image.split("/");
    const hasHost = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
    if (this.kind === "docker" || hasHost) return image;
    return rest.length > 0 ? `docker.io/${image}` : `docker.io/library/${image}`;
  }

  /** Runs the engine and answers what it printed. Code -1: it did not answer in time, or `signal` was aborted. */
  ask(args: readonly string[], { timeoutMs = ANSWER_MS, signal, input }: EngineOptions = {}): Promise<EngineAnswer> {
    return new Promise((resolve) => {
      const child = execFile(
        this.kind,
        args,
        {
          env: engineEnvironment(),
          cwd: "/",
          timeout: timeoutMs,
          killSignal: "SIGKILL",
          maxBuffer: OUTPUT_BYTES,
          ...(signal === undefined ? {} : { signal }),
        },
        (error, stdout, stderr) => {
          const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
          resolve({ code, stdout, stderr: stderr.trim() === "" && error !== null ? error.message : stderr.trim() });
        },
      );
      child.stdin?.on("error", () => {});
      child.stdin?.end(input ?? "");
    });
  }

  /** Starts the engine as a client that stays attached. It has a process group of its own, which the guard may kill. */
  attach(args: readonly string[], { mark, permitFile }: ClientOptions): ChildProcess {
    // The shell has the mark before it looks for the permit: the guard kills it, or it does not find the permit.
    const script = '[ -e "$1" ] || exit 125; shift; exec "$@"';
    const child = spawn("/bin/sh", ["-c", script, "millrace-engine", permitFile, this.kind, ...args], {
      // The mark must not be the first variable: see KILL_MARKED.
      env: { ...engineEnvironment(), [MARK]: mark },
      cwd: "/",
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    child.on("error", () => {}); // "close" follows.
    child.stdin!.on("error", () => {});
    return child;
  }

  /** Removes the containers and networks with a label. Rejects never; answers what went wrong, or nothing. */
  async removeLabelled(label: string): Promise<string> {
    const filter = ["--filter", `label=${label}`];
    const containers = await this.ask(["ps", "-aq", "--no-trunc", ...filter]);
    const problems = [containers.code === 0 ? "" : containers.stderr];
    problems.push(await this.remove(linesOf(containers.stdout)));
    const networks = await this.ask(["network", "ls", "-q", ...filter]);
    const names = linesOf(networks.stdout);
    if (names.length > 0) {
      const { code, stderr } = await this.ask(["network", "rm", ...names]);
      if (code !== 0) problems.push(stderr);
    }
    return problems.filter((problem) => problem !== "").join("; ");
  }

  /** Removes these containers. Answers what went wrong; empty for nothing, also when one does not exist. */
  async remove(ids: readonly string[]): Promise<string> {
    if (ids.length === 0) return "";
    const { code, stderr } = await this.ask([...this.removal, ...ids]);
    return code === 0 || /no such container|no container with/i.test(stderr) ? "" : stderr;
  }
}

/**
 * The engine of this machine that is asked for, or the first that works. Undefined without one. With `label`, removes what an
 * earlier agent has left under that label.
 */
export async function findEngine(
  wanted: EngineKind | "auto",
  label: string,
  log: Logger,
): Promise<ContainerEngine | undefined> {
  for (const kind of wanted === "auto" ? ENGINE_KINDS : [wanted]) {
    if (findOnPath(kind) === undefined) {
      if (wanted !== "auto") log.warn({ engine: kind }, "the container engine is not on the PATH of this agent");
      continue;
    }
    const engine = new ContainerEngine(kind);
    const { code, stderr } = await engine.ask(["ps", "-q"], { timeoutMs: FIRST_ANSWER_MS });
    if (code !== 0) {
      const level = wanted === "auto" ? "debug" : "warn";
      log[level](
        { engine: kind, problem: stderr },
        "the container engine does not answer: jobs with containers go to other agents",
      );
      continue;
    }
    const problem = await engine.removeLabelled(label);
    if (problem !== "") log.warn({ problem }, "containers that an earlier agent left cannot be removed");
    return engine;
  }
  return undefined;
}

function linesOf(text: string): readonly string[] {
  return text.split("\n").filter((line) => line !== "");
}
