/**
 * The clock by which an agent counts its leases: it goes on while the machine is suspended, as the plane's does. On Linux
 * Node's own stands still then, so the kernel's uptime (CLOCK_BOOTTIME, 10 ms steps) is read; elsewhere Node's goes on.
 */
import { openSync, readSync } from "node:fs";
import { type Clock, systemClock } from "../domain/clock.ts";

const UPTIME = "/proc/uptime";

/** The system's clock where there is no better one. Holds one descriptor for as long as the process lives. */
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
