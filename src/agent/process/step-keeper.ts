/**
 * What is done for the steps that a starter has forked and that reads the processes of the machine: samples of their
 * usage, stops after a suspension, and the end of all that they have started. It can take long on a machine with thousands
 * of processes, so the launcher does it for the agent. A step that ends soon and leaves nothing never comes here.
 */
import type { ResourceUsage } from "../../domain/resource-usage.ts";
import { endCgroup, processesOf } from "./cgroups.ts";
import { killLeftovers, signalProcesses, UNKNOWN_POSITION } from "./leftover-processes.ts";
import type { UsageMeter } from "./usage-meter.ts";

/** A process of a step that a starter has forked. */
export interface StarterStep {
  /** The id of the process and of its group. */
  readonly pid: number;
  readonly mark: string;
  /** Undefined without cgroups. */
  readonly cgroup?: string | undefined;
}

/** What follows from the end of a step's own process. */
export interface KeptEnd {
  readonly usage: Promise<ResourceUsage | undefined>;
  /** Resolves when no process of the step is left. */
  readonly gone: Promise<void>;
}

/** Each call names a step that its starter has begun and whose {@link end} was not called before. */
export interface StepKeeper {
  /** The step runs for a while. Idempotent. */
  watch(step: StarterStep): void;
  /** Kills all processes of the step. Its end follows. Idempotent. */
  kill(step: StarterStep): void;
  /** The process itself has ended. `cpuMs`: the time of it and of all that it has waited for. */
  end(step: StarterStep, cpuMs: number): KeptEnd;
}

/** The keeper that does the work, in this process. */
export class LocalKeeper implements StepKeeper {
  readonly #meter: UsageMeter;
  /** By mark. */
  readonly #steps = new Map<string, KeptStep>();

  constructor(meter: UsageMeter) {
    this.#meter = meter;
  }

  watch(step: StarterStep): void {
    this.#keep(step);
  }

  kill(step: StarterStep): void {
    const kept = this.#keep(step);
    this.#meter.sampleNow();
    signalStarted(step.pid, "SIGKILL");
    void kept.kill();
  }

  end(step: StarterStep, cpuMs: number): KeptEnd {
    const kept = this.#keep(step);
    this.#steps.delete(step.mark);
    return { usage: Promise.resolve(this.#meter.endOf(step.pid, cpuMs)), gone: kept.kill() };
  }

  /** Sends a signal to all processes of the steps that it knows, as far as their isolation finds them. */
  signal(name: "SIGSTOP" | "SIGCONT"): void {
    for (const step of this.#steps.values()) step.signal(name);
  }

  #keep(step: StarterStep): KeptStep {
    const known = this.#steps.get(step.mark);
    if (known !== undefined) return known;
    const kept = new KeptStep(step);
    this.#steps.set(step.mark, kept);
    this.#meter.begin(step.pid, () => step.pid, 0);
    return kept;
  }
}

class KeptStep {
  readonly #step: StarterStep;
  #end: Promise<void> | undefined;

  constructor(step: StarterStep) {
    this.#step = step;
  }

  signal(name: NodeJS.Signals): void {
    const { pid, cgroup } = this.#step;
    signalStarted(pid, name);
    if (cgroup !== undefined) signalProcesses(processesOf(cgroup), name);
  }

  kill(): Promise<void> {
    return (this.#end ??= this.#killAll());
  }

  async #killAll(): Promise<void> {
    const { pid, mark, cgroup } = this.#step;
    if (cgroup !== undefined) await endCgroup(cgroup);
    await killLeftovers(pid, mark, UNKNOWN_POSITION);
  }
}

/** Sends a signal to the group of a process that a starter has forked and not yet waited for. */
export function signalStarted(pid: number, name: NodeJS.Signals): void {
  // The process leads no group during its first moment.
  if (!sendSignal(-pid, name)) sendSignal(pid, name);
}

/** False when there is no such process or group. */
function sendSignal(id: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(id, name);
    return true;
  } catch {
    return false;
  }
}
