/** W7: what an installation costs that has nothing to do. */
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { cpuTime } from "../measure/cpu.ts";
import type { Figure } from "../system.ts";
import type { Installation } from "./installation.ts";

const SETTLE_MS = 20_000;
const IDLE_MS = 20_000;

/** Of an installation that has just been started, with its agent connected. */
export async function measureIdle({ planePid, redisPid }: Installation): Promise<readonly Figure[]> {
  await pause(SETTLE_MS);
  return [
    { metric: "memory of control plane", unit: "MB", value: residentMb(planePid) },
    ...(await idleCpu({ "control plane": planePid, redis: redisPid }, IDLE_MS)),
  ];
}

/** Percent of one core that each process takes while nothing is asked of it. */
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

/** Resident memory, 10^6 bytes. */
function residentMb(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))!;
  return (Number(kilobytes) * 1024) / 1e6;
}
