/** W7: memory and CPU of an idle installation. */
import { setTimeout as pause } from "node:timers/promises";
import { cpuTime } from "../measure/cpu.ts";
import { residentBytes } from "../measure/memory.ts";
import type { Figure } from "../system.ts";
import type { Installation } from "./installation.ts";

const SETTLE_MS = 20_000;
const IDLE_MS = 20_000;

/** Measures an installation that has just been started, with its agent connected. */
export async function measureIdle({ nodePid, redisPid }: Installation): Promise<readonly Figure[]> {
  await pause(SETTLE_MS);
  return [
    { metric: "memory of control plane", unit: "MB", value: residentMb(nodePid) },
    ...(await idleCpu({ "control plane": nodePid, redis: redisPid }, IDLE_MS)),
  ];
}

/** The percentage of one core that each process uses during `forMs` milliseconds without work. */
export async function idleCpu(pids: Readonly<Record<string, number>>, forMs: number): Promise<readonly Figure[]> {
  const before = Object.values(pids).map((pid) => cpuTime(pid).ownMs);
  const from = performance.now();
  await pause(forMs);
  const elapsedMs = performance.now() - from;
  return Object.entries(pids).map(([name, pid], index) => ({
    metric: `idle CPU of ${name}`,
    unit: "% of a core",
    value: ((cpuTime(pid).ownMs - before[index]!) / elapsedMs) * 100,
  }));
}

/** Resident memory of a process, in units of 10^6 bytes. */
export function residentMb(pid: number): number {
  return residentBytes(pid) / 1e6;
}
