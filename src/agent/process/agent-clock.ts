/**
 * The clock by which an agent counts its leases. Like the clock of the control plane, it keeps counting while the
 * agent's machine is suspended. Node's monotonic clock stops then on Linux, so this clock reads the kernel's uptime
 * there (CLOCK_BOOTTIME, in steps of 10 ms). On other systems Node's own clock keeps counting.
 */
import { openSync, readSync } from "node:fs";
import { type Clock, systemClock } from "../../domain/clock.ts";

const UPTIME = "/proc/uptime";

/** Falls back to the system clock where the uptime cannot be read. Holds one file descriptor until the process ends. */
export function openAgentClock(): Clock {
  const descriptor = openIfThere(UPTIME);
  if (descriptor === undefined) return systemClock;
  const buffer = Buffer.alloc(64);
  const uptimeMs = () => {
    const length = readSync(descriptor, buffer, 0, buffer.length, 0);
    return Math.round(Number.parseFloat(buffer.toString("latin1", 0, length)) * 1_000);
  };
  return { now: () => systemClock.now(), monotonic: uptimeMs };
}

function openIfThere(file: string): number | undefined {
  try {
    return openSync(file, "r");
  } catch {
    return undefined;
  }
}
