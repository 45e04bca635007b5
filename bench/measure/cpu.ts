/** CPU time of other processes, as Linux counts it. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const TICK_MS = 1_000 / Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

export interface CpuTime {
  /** Of the process and all its threads, user and system, in ms; exact to one tick of 10 ms. */
  readonly ownMs: number;
  /** Of its children that have ended and were waited for, and of theirs. */
  readonly childrenMs: number;
}

/** Throws `ENOENT` when there is no such process. Linux alone. */
export function cpuTime(pid: number): CpuTime {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  // The name, second of the fields, may hold blanks and parentheses; the third follows its last parenthesis.
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15);
  return { ownMs: (user + system) * TICK_MS, childrenMs: (childrenUser + childrenSystem) * TICK_MS };
}
