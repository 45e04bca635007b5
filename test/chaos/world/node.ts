/** One process of an installation that is killed, frozen and started again under the same name and addresses. */
import type { StartedProcess } from "../../support/processes.ts";

export class Node {
  readonly name: string;
  readonly #launch: () => Promise<StartedProcess>;
  readonly #lives: StartedProcess[] = [];

  /** `launch` resolves when the process is ready for work. */
  constructor(name: string, launch: () => Promise<StartedProcess>) {
    this.name = name;
    this.#launch = launch;
  }

  get isRunning(): boolean {
    return this.#lives.at(-1)?.running ?? false;
  }

  get pid(): number {
    return this.#lives.at(-1)!.pid;
  }

  /** `host:port`; of a node of the control plane. */
  get metricsAddress(): string {
    return /"metrics":"([^"]+)"/.exec(this.#lives.at(-1)!.stderr)![1]!;
  }

  async start(): Promise<void> {
    this.#lives.push(await this.#launch());
  }

  signal(signal: NodeJS.Signals): void {
    this.#lives.at(-1)!.kill(signal);
  }

  /** Resolves when the process is gone. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    this.signal(signal);
    await this.#lives.at(-1)!.exited;
  }

  /** What all its processes have written, for whoever looks for the cause of a violation. */
  get output(): string {
    return this.#lives.map(({ stdout, stderr }) => `${stdout}${stderr}`).join("\n---- started again ----\n");
  }
}
