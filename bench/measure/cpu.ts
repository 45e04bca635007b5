/** CPU time of other processes, as Linux counts it. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

const TICK_MS = 1_000 / Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

export interface CpuTime {
  /** User and system time of the process with all its threads, in ms; exact to one tick of 10 ms. */
  readonly ownMs: number;
  /**
   * The same for all its descendants: those that are running, and those that have ended and that their parents waited
   * for.
   */
  readonly childrenMs: number;
}

interface Stat {
  readonly parent: number;
  readonly ownMs: number;
  readonly endedChildrenMs: number;
}

/** Throws an error with the code `ENOENT` when the process does not exist. Works on Linux only. */
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
      // The process has ended since the folder was read.
      if (!["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code!)) throw error;
    }
  }
  const sumBelow = (pid: number): number =>
    (children.get(pid) ?? []).reduce((sum, child) => sum + child.ms + sumBelow(child.pid), 0);
  return sumBelow(ancestor);
}

function readStat(pid: number): Stat {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The second field, the name, may hold spaces and parentheses. The third field follows the last parenthesis.
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
