/**
 * What the processes of steps use up, as far as Linux tells it to their parent. Part of the launcher, whose children they are.
 *
 * Time on processors: a process that has ended and was waited for is counted by the kernel with whoever has waited, to a
 * clock tick of 10 ms. So a step counts with the launcher once it is over, and is told apart unless another one ends in the
 * same moment. What was never waited for is known from looks at the processes alone, as is all memory: one a second, and one
 * before a step is killed.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { ResourceUsage } from "../../domain/resource-usage.ts";

/** What the kernel counts in, whatever its timer: USER_HZ. */
const TICK_MS = 10;
/** From the first start to the first look, and between two looks. */
const FIRST_LOOK_MS = 100;
const LOOK_MS = 1_000;
/** A look takes the longer the more processes the machine has: at most this part of the time is spent on looks. */
const LOOK_SHARE = 1 / 50;

/** Positions in /proc/PID/stat after the name, which may hold anything. */
const STAT = { group: 2, userTicks: 11, systemTicks: 12, childUserTicks: 13, childSystemTicks: 14 } as const;

export class UsageMeter {
  /** By process group: what the looks have found so far. */
  readonly #seen = new Map<number, ResourceUsage>();
  /** Processes that have ended since the last count, and who asks for them. */
  #ended: { readonly pid: number; readonly answer: (usage: ResourceUsage | undefined) => void }[] = [];
  #countedMs = waitedForMs() ?? 0;
  #timer: NodeJS.Timeout | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** A child of this process has become a step, with a group of its own. */
  begin(pid: number): void {
    this.#seen.set(pid, { cpuMs: 0, maxRssBytes: 0 });
    this.#timer ??= setTimeout(() => this.#look(), FIRST_LOOK_MS);
  }

  /** To be called before what still runs is killed: nobody waits for what dies with its parent. */
  lookAgain(): void {
    if (this.#timer === undefined || performance.now() - this.#lookedAt < FIRST_LOOK_MS) return;
    clearTimeout(this.#timer);
    this.#look();
  }

  /** To be called for each child of this process when it has ended; undefined for one that was no step, and without /proc. */
  end(pid: number): Promise<ResourceUsage | undefined> {
    return new Promise((answer) => {
      this.#ended.push({ pid, answer });
      // The system has waited for all that ended in this turn of the event loop before it tells of the first.
      if (this.#ended.length === 1) setImmediate(() => this.#count());
    });
  }

  /** Shares the time of those that ended together among them: what each was seen to use, and equal parts of the rest. */
  #count(): void {
    const ended = this.#ended;
    this.#ended = [];
    const waitedMs = waitedForMs();
    const usages = ended.map(({ pid }) => this.#seen.get(pid));
    const seenMs = usages.reduce((sum, usage) => sum + (usage?.cpuMs ?? 0), 0);
    const restMs = waitedMs === undefined ? 0 : Math.max(0, waitedMs - this.#countedMs - seenMs);
    this.#countedMs = waitedMs ?? 0;
    for (const [index, { pid, answer }] of ended.entries()) {
      this.#seen.delete(pid);
      const usage = usages[index];
      if (usage === undefined || waitedMs === undefined) answer(undefined);
      else answer({ ...usage, cpuMs: Math.round(usage.cpuMs + restMs / ended.length) });
    }
    if (this.#seen.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #look(): void {
    const startedAt = performance.now();
    this.#lookedAt = startedAt;
    const found = new Map<number, { cpuMs: number; rss: number; highest: number }>();
    for (const name of readProcesses()) {
      const stat = readStat(name);
      const group = Number(stat[STAT.group]);
      if (!this.#seen.has(group)) continue;
      const sum = found.get(group) ?? { cpuMs: 0, rss: 0, highest: 0 };
      const { rss, highest } = readMemory(name);
      sum.cpuMs += ticks(stat, STAT.userTicks, STAT.systemTicks, STAT.childUserTicks, STAT.childSystemTicks);
      sum.rss += rss;
      sum.highest = Math.max(sum.highest, highest);
      found.set(group, sum);
    }
    for (const [group, { cpuMs, rss, highest }] of found) {
      const before = this.#seen.get(group)!;
      const maxRssBytes = Math.max(before.maxRssBytes, rss, highest);
      this.#seen.set(group, { cpuMs: Math.max(before.cpuMs, cpuMs), maxRssBytes });
    }
    const tookMs = performance.now() - startedAt;
    this.#timer = setTimeout(() => this.#look(), Math.max(LOOK_MS, tookMs / LOOK_SHARE));
  }
}

/** Of all children of this process that have ended; undefined when the system does not say. */
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

/** What follows the name of a process; nothing when it is gone. */
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
