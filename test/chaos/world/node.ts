/**
 * One process of an installation. A scenario kills it, freezes it, and starts it again under the same name and
 * addresses.
 */
import type { StartedProcess } from "../../support/processes.ts";

export class Node {
  readonly name: string;
  readonly #launch: () => Promise<StartedProcess>;
  /** One process for each start; the last one is the current one. */
  readonly #processes: StartedProcess[] = [];

  /** `launch` resolves when the process is ready for work. */
  constructor(name: string, launch: () => Promise<StartedProcess>) {
    this.name = name;
    this.#launch = launch;
  }

  get isRunning(): boolean {
    return this.#processes.at(-1)?.running ?? false;
  }

  get pid(): number {
    return this.#processes.at(-1)!.pid;
  }

  /** `host:port` of the metrics listener. Only nodes of the control plane have one. */
  get metricsAddress(): string {
    return /"metrics":"([^"]+)"/.exec(this.#processes.at(-1)!.stderr)![1]!;
  }

  async start(): Promise<void> {
    this.#processes.push(await this.#launch());
  }

  signal(signal: NodeJS.Signals): void {
    this.#processes.at(-1)!.kill(signal);
  }

  /** Signals the process and resolves when it has ended. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    this.signal(signal);
    await this.#processes.at(-1)!.exited;
  }

  /** The output of all its processes, for a developer who looks for the cause of a violation. */
  get output(): string {
    return this.#processes.map(({ stdout, stderr }) => `${stdout}${stderr}`).join("\n---- started again ----\n");
  }
}
