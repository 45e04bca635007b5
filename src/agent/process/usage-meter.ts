/**
 * Measures processor time and memory of steps, as far as Linux reports them to the parent process. The meter runs in
 * the launcher, whose children the steps' processes are, or beside the starter that is their parent.
 *
 * Processor time: when a parent waits for an ended process, the kernel adds the process's time to the parent's total,
 * in clock ticks of 10 ms. So the launcher's total grows by the time of each step that ends. Steps that end at the same
 * moment share the growth. The time of processes that no parent has waited for, and all memory, come from samples of
 * the running processes: one sample a second, and one before a step is killed.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { ResourceUsage } from "../../domain/resource-usage.ts";

/** The unit of the kernel's counters (USER_HZ), which does not depend on its timer. */
const TICK_MS = 10;
/** Time from the first start of a step to the first sample; also the shortest time between two samples. */
const FIRST_SAMPLE_MS = 100;
const SAMPLE_MS = 1_000;
/** The more processes a machine has, the longer a sample takes. Samples take at most this share of the time. */
const MAX_SAMPLE_SHARE = 1 / 50;

/** Positions of fields in /proc/PID/stat, counted after the process's name, which may hold any character. */
const STAT = { group: 2, userTicks: 11, systemTicks: 12, childUserTicks: 13, childSystemTicks: 14 } as const;

export class UsageMeter {
  /** What the samples have found so far, by child. */
  readonly #sampled = new Map<number, ResourceUsage>();
  /** Tells the process group of a child's step. */
  readonly #groups = new Map<number, () => number>();
  /** Processes that have ended since the last count, with the resolvers of their promises. */
  #ended: { readonly pid: number; readonly answer: (usage: ResourceUsage | undefined) => void }[] = [];
  #countedMs = waitedForMs() ?? 0;
  #timer: NodeJS.Timeout | undefined;
  #sampledAt = Number.NEGATIVE_INFINITY;
  /** How long the last sample took. */
  #tookMs = 0;

  /** A process has become that of a step, or its parent. `group` tells the step's process group. */
  begin(pid: number, group: () => number): void {
    this.#groups.set(pid, group);
    this.#sampled.set(pid, { cpuMs: 0, maxRssBytes: 0 });
    this.#timer ??= setTimeout(() => this.#sample(), FIRST_SAMPLE_MS);
  }

  /** Takes a sample now, unless the last one was a moment ago or takes long: for steps that have run for a while. */
  sampleEarly(): void {
    if (performance.now() - this.#sampledAt >= this.#tookMs / MAX_SAMPLE_SHARE) this.sampleNow();
  }

  /** Call before running processes are killed: no parent waits for a process that dies together with its parent. */
  sampleNow(): void {
    if (this.#timer === undefined || performance.now() - this.#sampledAt < FIRST_SAMPLE_MS) return;
    clearTimeout(this.#timer);
    this.#sample();
  }

  /**
   * Call for each child of this process when it has ended. Undefined for a child that was not a step's process, and
   * when the system has no /proc.
   */
  end(pid: number): Promise<ResourceUsage | undefined> {
    return new Promise((answer) => {
      this.#ended.push({ pid, answer });
      // Node waits for all children that have ended before it emits the first "exit" of this turn of the event loop. So
      // the total already contains all of them.
      if (this.#ended.length === 1) setImmediate(() => this.#count());
    });
  }

  /**
   * Call for a process whose parent is not this process, with the time by which the total of its parent has grown. The
   * answer is as that of {@link end}.
   */
  endOf(pid: number, waitedMs: number): ResourceUsage | undefined {
    const sampled = this.#sampled.get(pid);
    this.#forget([pid]);
    return sampled && { ...sampled, cpuMs: Math.round(Math.max(sampled.cpuMs, waitedMs)) };
  }

  #forget(pids: readonly number[]): void {
    for (const pid of pids) {
      this.#sampled.delete(pid);
      this.#groups.delete(pid);
    }
    if (this.#sampled.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Distributes the time of the ended processes: each gets its sampled time, and an equal part of the rest. */
  #count(): void {
    const ended = this.#ended;
    this.#ended = [];
    const waitedMs = waitedForMs();
    const usages = ended.map(({ pid }) => this.#sampled.get(pid));
    const sampledMs = usages.reduce((sum, usage) => sum + (usage?.cpuMs ?? 0), 0);
    const restMs = waitedMs === undefined ? 0 : Math.max(0, waitedMs - this.#countedMs - sampledMs);
    this.#countedMs = waitedMs ?? 0;
    for (const [index, { answer }] of ended.entries()) {
      const usage = usages[index];
      if (usage === undefined || waitedMs === undefined) answer(undefined);
      else answer({ ...usage, cpuMs: Math.round(usage.cpuMs + restMs / ended.length) });
    }
    this.#forget(ended.map(({ pid }) => pid));
  }

  #sample(): void {
    const startedAt = performance.now();
    this.#sampledAt = startedAt;
    const children = new Map([...this.#groups].map(([pid, group]) => [group(), pid]));
    const found = new Map<number, { cpuMs: number; rss: number; highest: number }>();
    for (const name of readProcesses()) {
      const stat = readStat(name);
      const child = children.get(Number(stat[STAT.group]));
      if (child === undefined) continue;
      const sum = found.get(child) ?? { cpuMs: 0, rss: 0, highest: 0 };
      const { rss, highest } = readMemory(name);
      sum.cpuMs += ticks(stat, STAT.userTicks, STAT.systemTicks, STAT.childUserTicks, STAT.childSystemTicks);
      sum.rss += rss;
      sum.highest = Math.max(sum.highest, highest);
      found.set(child, sum);
    }
    for (const [child, { cpuMs, rss, highest }] of found) {
      const before = this.#sampled.get(child)!;
      const maxRssBytes = Math.max(before.maxRssBytes, rss, highest);
      this.#sampled.set(child, { cpuMs: Math.max(before.cpuMs, cpuMs), maxRssBytes });
    }
    this.#tookMs = performance.now() - startedAt;
    this.#timer = setTimeout(() => this.#sample(), Math.max(SAMPLE_MS, this.#tookMs / MAX_SAMPLE_SHARE));
  }
}

/** Processor time of all children that this process has waited for; undefined when the system does not report it. */
function waitedForMs(): number | undefined {
  const stat = readStat("self");
  return stat.length === 0 ? undefined : ticks(stat, STAT.childUserTicks, STAT.childSystemTicks);
}

function ticks(stat: readonly string[], ...positions: readonly number[]): number {
  return positions.reduce((sum, position) => sum + Number(stat[position]), 0) * TICK_MS;
}

function readProcesses(): readonly string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}

/** The fields after the name in /proc/PID/stat; empty when the process has ended. */
function readStat(name: string): readonly string[] {
  const stat = read(`/proc/${name}/stat`);
  return stat === "" ? [] : stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function readMemory(name: string): { readonly rss: number; readonly highest: number } {
  const status = read(`/proc/${name}/status`);
  const kilobytes = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0);
  return { rss: kilobytes("VmRSS") * 1024, highest: kilobytes("VmHWM") * 1024 };
}

function read(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
