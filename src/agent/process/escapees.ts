/**
 * The end of what a step leaves behind, found in /proc: its group, and what has left the group but carries its mark.
 *
 * Linux gives process ids in ascending order until they wrap around. So all that a step can have started is among the
 * ids given since its start, and most ends cost no look at the other processes of the machine.
 */
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { signalGroup } from "./process-group.ts";
import { MARK } from "./kill-script.ts";

/** Ids cannot wrap around to where they were within this time: a system has at least 32768. */
const NO_WRAP_MS = 200;
/** To look at so many ids, most of them nobody's, costs about as much as to look at all processes. */
const FEW_IDS = 1_000;
/** What was killed needs a moment to be gone; what cannot die (a hung disk) is not waited for. */
const ROUNDS = 200;
const ROUND_MS = 1;
/** A program that is just being loaded shows no environment yet, for some microseconds; one that still has none has none. */
const UNSURE_ROUNDS = 3;

/** When a step began, as its descendants' ids tell it. */
export interface Beginning {
  readonly lastPid: number;
  /** Ids that were given in the same era, only they, can be compared. */
  readonly era: number;
}

/** Call before the first process of the step can start another one. */
export function beginning(): Beginning {
  return now();
}

/**
 * Kills the group, and every process whose mark is `mark` with its group, and resolves when none is left: at once when
 * there was none. False when this system has no /proc: then only the group was killed, and nobody knows whether it is gone.
 */
export async function killRest(group: number, mark: string, since: Beginning): Promise<boolean> {
  signalGroup(group, "SIGKILL");
  if (!existsSync("/proc/self/environ")) return false;
  const wanted = Buffer.from(`${MARK}=${mark}\0`);
  for (let round = 0; round < ROUNDS; round++) {
    if (killFound(group, wanted, since, round < UNSURE_ROUNDS) === 0) break;
    await sleep(ROUND_MS);
  }
  return true;
}

/** How many processes there still are that belong to the step, or may; those outside of its group are told to die. */
function killFound(group: number, mark: Buffer, since: Beginning, countsUnsure: boolean): number {
  let found = 0;
  // What is killed may have started something meanwhile, under a higher id.
  for (let [from, to] = [since, now()]; ; [from, to] = [to, now()]) {
    const few = idsBetween(from, to);
    for (const pid of few ?? allIds()) {
      const itsGroup = groupOf(pid);
      if (itsGroup === undefined) continue;
      if (itsGroup === group) {
        found++;
        continue;
      }
      const environment = read(`/proc/${pid}/environ`);
      if (environment?.length === 0 && countsUnsure) found++;
      if (environment?.includes(mark) !== true) continue;
      found++;
      if (itsGroup > 1) signalGroup(itsGroup, "SIGKILL");
      signalProcess(pid);
    }
    if (few === undefined || few.length === 0) return found;
  }
}

/** Undefined when all processes must be looked at. */
function idsBetween(from: Beginning, to: Beginning): number[] | undefined {
  const count = to.lastPid - from.lastPid;
  if (from.era !== to.era || count > FEW_IDS) return undefined;
  return Array.from({ length: count }, (_, index) => from.lastPid + index + 1);
}

function allIds(): number[] {
  return readdirSync("/proc").map(Number).filter(Number.isInteger);
}

/** Undefined when the process is gone, a zombie or the kernel's own. */
function groupOf(pid: number): number | undefined {
  const stat = read(`/proc/${pid}/stat`)?.toString("latin1");
  if (stat === undefined) return undefined;
  // The name before the parenthesis may hold anything.
  const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return state === "Z" || state === "X" || group === "0" ? undefined : Number(group);
}

const space = Buffer.alloc(64 * 1024);

/** Valid until the next call; undefined when the process is gone, or another user's. */
function read(path: string): Buffer | undefined {
  // An error costs much more than the look that avoids most of them.
  if (!existsSync(path)) return undefined;
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const bytes = readSync(file, space, 0, space.length, 0);
    return bytes < space.length ? space.subarray(0, bytes) : readFileSync(path);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function signalProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone meanwhile.
  }
}

let era = 0;
let last = { pid: Number.POSITIVE_INFINITY, at: 0 };
let lastPidFile: number | undefined;

/** An era ends when the ids wrap around, or may have: when nobody has looked for too long, or the system does not say. */
function now(): Beginning {
  const pid = lastPid();
  const at = performance.now();
  if (pid === undefined || pid < last.pid || at - last.at > NO_WRAP_MS) era++;
  last = { pid: pid ?? 0, at };
  return { lastPid: last.pid, era };
}

/** The process id that the system gave last; undefined when it does not say. */
function lastPid(): number | undefined {
  try {
    lastPidFile ??= openSync("/proc/sys/kernel/ns_last_pid", "r");
    return Number.parseInt(space.toString("latin1", 0, readSync(lastPidFile, space, 0, 16, 0)), 10);
  } catch {
    return undefined;
  }
}
