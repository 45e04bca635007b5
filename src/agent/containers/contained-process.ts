/** A step's process in a container. The client of the engine stands for it: it passes on the output and the exit code. */
import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { ProcessExit } from "../process/launch-protocol.ts";
import type { LaunchedProcess } from "../process/launcher.ts";
import { signalGroup } from "../process/process-group.ts";
import { becomeProgram, signalAll } from "./container-scripts.ts";
import type { RunningContainer } from "./running-container.ts";

export interface ContainedLaunch {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

/** Time that a killed client has to end by itself, with the exit code of the process. */
const CLIENT_MS = 2_000;

export class ContainedProcess implements LaunchedProcess {
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<ProcessExit>;
  readonly gone: Promise<void>;
  readonly #container: RunningContainer;
  readonly #client: ChildProcess;
  #hasEnded = false;
  #isKilled = false;
  #ranOutOfMemory = false;

  constructor(container: RunningContainer, launch: ContainedLaunch) {
    this.#container = container;
    const client = container.attachShell();
    this.#client = client;
    this.stdout = client.stdout!;
    this.stderr = client.stderr!;
    this.exited = new Promise((resolve) =>
      client.once("exit", (code, signal) => {
        this.#hasEnded = true;
        resolve({ code, signal });
      }),
    );
    this.gone = this.exited.then(async () => {
      this.#ranOutOfMemory = await container.endStep();
    });
    client.stdin!.end(becomeProgram({ stdin: "/dev/null", ...launch }));
  }

  /** True when the kernel has killed a process of the step for lack of memory. Known once `gone` has resolved. */
  get ranOutOfMemory(): boolean {
    return this.#ranOutOfMemory;
  }

  signal(name: NodeJS.Signals): void {
    if (!this.#hasEnded && name === "SIGTERM") void this.#container.runAsRoot(signalAll("TERM"));
  }

  kill(): void {
    if (this.#isKilled) return;
    this.#isKilled = true;
    void this.#killAll();
  }

  /** The engine may not answer: the container as a whole is removed then. */
  async #killAll(): Promise<void> {
    if (this.#hasEnded) return;
    const { code } = await this.#container.runAsRoot(signalAll("KILL"));
    if (code !== 0) await this.#container.remove();
    const timer = setTimeout(() => this.#endClient(), CLIENT_MS);
    await this.exited;
    clearTimeout(timer);
  }

  #endClient(): void {
    if (!this.#hasEnded && this.#client.pid !== undefined) signalGroup(this.#client.pid, "SIGKILL");
  }
}
