/** CPU time of other processes, as Linux counts it. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const TICK_MS = 1_000 / Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

export interface CpuTime {
  /** Of the process and all its threads, user and system, in ms; exact to one tick of 10 ms. */
  readonly ownMs: number;
  /** Of all that it has started, and what that has started: those that run, and those that have ended and were waited for. */
  readonly childrenMs: number;
}

interface Stat {
  readonly parent: number;
  readonly ownMs: number;
  readonly endedChildrenMs: number;
}

/** Throws with code `ENOENT` when there is no such process. Linux alone. */
export function cpuTime(pid: number): CpuTime {
  const { ownMs, endedChildrenMs } = readStat(pid);
  return { ownMs, childrenMs: endedChildrenMs + runningDescendantsMs(pid) };
}

function runningDescendantsMs(ancestor: number): number {
  const children = new Map<number, { readonly pid: number; readonly ms: number }[]>();
  for (const name of readdirSync("/proc").filter((entry) => /^\d+$/.test(entry))) {
    try {
      const { parent, ownMs, endedChildrenMs } = readStat(Number(name));
      const siblings = children.get(parent) ?? [];
      siblings.push({ pid: Number(name), ms: ownMs + endedChildrenMs });
      children.set(parent, siblings);
    } catch (error) {
      // It has ended since the folder was read.
      if (!["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code!)) throw error;
    }
  }
  const sumBelow = (pid: number): number =>
    (children.get(pid) ?? []).reduce((sum, child) => sum + child.ms + sumBelow(child.pid), 0);
  return sumBelow(ancestor);
}

function readStat(pid: number): Stat {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The name, second of the fields, may hold blanks and parentheses; the third follows its last parenthesis.
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15);
  return {
    parent: fields[1]!,
    ownMs: (user + system) * TICK_MS,
    endedChildrenMs: (childrenUser + childrenSystem) * TICK_MS,
  };
}
