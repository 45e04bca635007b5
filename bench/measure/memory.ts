/** Memory of other processes, as Linux counts it. */
import { readFileSync } from "node:fs";

/** Resident memory of a process. Throws an error with the code `ENOENT` when the process does not exist. */
export function residentBytes(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))!;
  return Number(kilobytes) * 1_024;
}
