/**
 * What is done for the steps that a starter has forked and that reads the processes of the machine: samples of their
 * usage, stops after a suspension, and the end of all that they have started. It can take long on a machine with thousands
 * of processes, so the launcher does it for the agent. A step that ends soon and leaves nothing never comes here.
 */
import type { ResourceUsage } from "../../domain/resource-usage.ts";
import { endCgroup, processesOf } from "./cgroups.ts";
import { killLeftovers, positionOf, signalProcesses, type ToldPosition } from "./leftover-processes.ts";
import { sendSignal } from "./process-group.ts";
import type { UsageMeter } from "./usage-meter.ts";

/** A process of a step that a starter has forked. */
export interface StarterStep {
  /** The id of the process and of its group. */
  readonly pid: number;
  readonly mark: string;
  /** Undefined without cgroups. */
  readonly cgroup?: string | undefined;
}

/** How the process of a step has ended. */
export interface StarterEnd {
  /** The processor time of it and of all that it has waited for, milliseconds. */
  readonly cpuMs: number;
  /** Where the ids of the step's processes begin; absent when all processes have to be read. */
  readonly since?: ToldPosition | undefined;
}

/** What follows from the end of a step's own process. */
export interface KeptEnd {
  /** Undefined for a step that was not watched. */
  readonly usage: Promise<ResourceUsage | undefined>;
  /** Resolves when no process of the step is left. */
  readonly gone: Promise<void>;
}

/** Each call names steps that their starter has begun and whose {@link end} was not called before. */
export interface StepKeeper {
  /** The steps have run for a while. Idempotent. */
  watch(steps: readonly StarterStep[]): void;
  /** Kills all processes of the step. Its end follows. Idempotent. */
  kill(step: StarterStep): void;
  /** The process itself has ended. */
  end(step: StarterStep, end: StarterEnd): KeptEnd;
}

/** The keeper that does the work, in this process. */
export class LocalKeeper implements StepKeeper {
  readonly #meter: UsageMeter;
  /** By mark. */
  readonly #steps = new Map<string, KeptStep>();

  constructor(meter: UsageMeter) {
    this.#meter = meter;
  }

  watch(steps: readonly StarterStep[]): void {
    for (const step of steps) this.#keep(step);
    this.#meter.sampleEarly();
  }

  kill(step: StarterStep): void {
    const kept = this.#keep(step);
    this.#meter.sampleNow();
    signalStarted(step.pid, "SIGKILL");
    void kept.kill(undefined);
  }

  end(step: StarterStep, { cpuMs, since }: StarterEnd): KeptEnd {
    const kept = this.#steps.get(step.mark) ?? new KeptStep(step);
    this.#steps.delete(step.mark);
    return { usage: Promise.resolve(this.#meter.endOf(step.pid, cpuMs)), gone: kept.kill(since) };
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
    this.#meter.begin(step.pid, () => step.pid);
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

  kill(since: ToldPosition | undefined): Promise<void> {
    return (this.#end ??= this.#killAll(since));
  }

  async #killAll(since: ToldPosition | undefined): Promise<void> {
    const { pid, mark, cgroup } = this.#step;
    if (cgroup !== undefined) await endCgroup(cgroup);
    await killLeftovers(pid, mark, positionOf(since));
  }
}

/** Sends a signal to the group of a process that a starter has forked and not yet waited for. */
export function signalStarted(pid: number, name: NodeJS.Signals): void {
  // The process leads no group during its first moment.
  if (!sendSignal(-pid, name)) sendSignal(pid, name);
}
