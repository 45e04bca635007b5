/**
 * One process of an installation. A scenario kills it, freezes it, and starts it again under the same name and
 * addresses.
 */
import type { StartedProcess } from "../../support/processes.ts";

/** For how long a process is started again that ends before it is ready. */
const START_AGAIN_MS = 60_000;

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
    return this.addressOf("metrics");
  }

  /** Address of the inspector of a process that was started with one. */
  get inspectorUrl(): string {
    return /Debugger listening on (ws:\S+)/.exec(this.#processes.at(-1)!.stderr)![1]!;
  }

  /** `host:port` of a listener of the node. */
  addressOf(listener: "metrics" | "http"): string {
    return new RegExp(`"${listener}":"([^"]+)"`).exec(this.#processes.at(-1)!.stderr)![1]!;
  }

  /**
   * Starts the process, and again when it ends before it is ready, as the service manager of a machine does. The first
   * start has one try.
   */
  async start(): Promise<void> {
    const end = performance.now() + (this.#processes.length === 0 ? 0 : START_AGAIN_MS);
    for (;;) {
      try {
        this.#processes.push(await this.#launch());
        return;
      } catch (error) {
        if (performance.now() > end) throw error;
      }
    }
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
