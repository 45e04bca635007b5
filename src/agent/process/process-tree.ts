/** The processes below a process, as Linux lists them. */
import { readFileSync } from "node:fs";

/** The process ids of all descendants. Empty without /proc, or when the process has ended. */
export function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)]);
}

/** The group of the first child that leads a process group of its own; undefined when there is none. */
export function innerGroupOf(pid: number): number | undefined {
  return childrenOf(pid).find((child) => groupOf(child) === child);
}

/** In the order in which the process got its children: its own, then orphans. */
function childrenOf(pid: number): number[] {
  const text = read(`/proc/${pid}/task/${pid}/children`);
  return text.split(" ").filter(Boolean).map(Number);
}

function groupOf(pid: number): number {
  const stat = read(`/proc/${pid}/stat`);
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
}

function read(file: string): string {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return "";
  }
}
