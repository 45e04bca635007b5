/** The starters of an agent, one for each lease under which steps run, and the steps that they have begun. */
import type { Socket } from "node:net";
import { MillraceError } from "../../domain/errors.ts";
import type { Launch } from "./launch-protocol.ts";
import { Starter } from "./starter.ts";
import type { StartedProcess } from "./started-process.ts";
import type { StepKeeper } from "./step-keeper.ts";

/**
 * While steps run, those that the keeper does not know are told to it: first after this time, then every second. A step that
 * has ended before had no sample of its usage, and its end was known without another process.
 */
const FIRST_WATCH_MS = 100;
const WATCH_MS = 1_000;
/** How long no step runs before the launcher is told: between the steps of a job it need not be. */
const IDLE_MS = 1_000;

export interface StartersOptions {
  /** Part of the marks of all steps; unique among all agents. */
  readonly name: string;
  /** The cgroup that holds one cgroup for each step; undefined without cgroups. */
  readonly cgroupFolder: string | undefined;
  readonly keeper: StepKeeper;
  /** See {@link StarterOptions}. */
  readonly lifeline?: Socket | undefined;
  /** Called with the process groups of all starters when they change, before the new one starts anything. */
  readonly onChange: (groups: readonly number[]) => void;
  /** Called before the first step starts, and when none has run for a while. */
  readonly onBusy: (isBusy: boolean) => void;
}

export class Starters {
  readonly #options: StartersOptions;
  readonly #starters = new Set<Starter>();
  #made = 0;
  #running = 0;
  #isBusy = false;
  #idleTimer: NodeJS.Timeout | undefined;
  #watchTimer: NodeJS.Timeout | undefined;

  constructor(options: StartersOptions) {
    this.#options = options;
  }

  /** Resolves when the process exists. Rejects with `unavailable` when the system refuses it. `signal` kills it. */
  async start(launch: Launch, signal: AbortSignal | undefined): Promise<StartedProcess> {
    this.#begin();
    try {
      const process = this.#starterOf(launch.leaseMark).start(launch);
      const kill = () => process.kill();
      if (signal?.aborted === true) kill();
      signal?.addEventListener("abort", kill, { once: true });
      void process.gone.then(() => this.#end());
      await process.begun;
      signal?.removeEventListener("abort", kill);
      return process;
    } catch (error) {
      this.#end();
      throw new MillraceError("unavailable", `the step's process cannot be started: ${(error as Error).message}`);
    }
  }

  /** How many steps run. */
  get running(): number {
    return this.#running;
  }

  /** The prefixes of the marks of all that the starters have started, and of the starters. */
  get leaseMarks(): readonly string[] {
    return [...this.#starters].map(({ leaseMark }) => leaseMark);
  }

  /** Has the keeper watch all steps that run. */
  watchAll(): void {
    const running = [...this.#starters].flatMap(({ processes }) => [...processes]);
    const steps = running.flatMap((process) => process.toWatch() ?? []);
    if (steps.length > 0) this.#options.keeper.watch(steps);
  }

  /** Ends all steps. Resolves when no process of them is left. */
  async end(): Promise<void> {
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#watchTimer);
    const starters = [...this.#starters];
    for (const starter of starters) starter.end();
    await Promise.all(starters.map(({ gone }) => gone));
  }

  /** The starter of the lease. Ends those of other leases that have no steps. */
  #starterOf(leaseMark: string): Starter {
    for (const each of this.#starters) if (each.leaseMark !== leaseMark && !each.isUsed) each.end();
    const known = [...this.#starters].find((each) => each.leaseMark === leaseMark && each.isRunning);
    if (known !== undefined) return known;
    const { name, cgroupFolder, keeper, lifeline } = this.#options;
    const prefix = `${leaseMark}${name}-${++this.#made}-`;
    const starter = new Starter({ leaseMark, prefix, cgroupFolder, keeper, lifeline });
    this.#starters.add(starter);
    this.#tellGroups();
    void starter.gone.then(() => {
      this.#starters.delete(starter);
      this.#tellGroups();
    });
    return starter;
  }

  #tellGroups(): void {
    this.#options.onChange([...this.#starters].map(({ group }) => group));
  }

  #begin(): void {
    if (++this.#running === 1) this.#watchTimer = setTimeout(() => this.#watch(), FIRST_WATCH_MS);
    if (this.#isBusy) return;
    this.#isBusy = true;
    this.#options.onBusy(true);
  }

  #watch(): void {
    this.watchAll();
    this.#watchTimer = setTimeout(() => this.#watch(), WATCH_MS);
  }

  #end(): void {
    if (--this.#running > 0) return;
    clearTimeout(this.#watchTimer);
    this.#idleTimer ??= setTimeout(() => {
      this.#idleTimer = undefined;
      if (this.#running > 0 || !this.#isBusy) return;
      this.#isBusy = false;
      this.#options.onBusy(false);
    }, IDLE_MS);
    this.#idleTimer.unref();
  }
}
