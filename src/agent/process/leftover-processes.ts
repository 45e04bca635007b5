/**
 * Kills the processes that a step leaves behind. They are found in /proc: those of the step's process group, and those
 * that have left the group but carry the step's mark.
 *
 * Linux assigns process ids in ascending order until they wrap around. So every process of a step has an id that was
 * assigned after the step's start, and for most steps the other processes of the machine need not be read.
 */
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { MARK } from "./kill-script.ts";
import { sendSignal, signalGroup } from "./process-group.ts";

/** Process ids cannot wrap around completely within this time: a system has at least 32768 of them. */
const NO_WRAP_MS = 200;
/** Reading this many ids, most of them unused, costs about as much as reading all processes. */
const FEW_IDS = 1_000;
/** Reading this many ids takes less than asking another process to do so. */
const QUICK_IDS = 64;
/** A killed process needs a moment to disappear. A process that cannot die (hung disk) is not awaited any longer. */
const ROUNDS = 200;
const ROUND_MS = 1;
/**
 * For some microseconds while a program is being loaded, its environment reads as empty. A process whose environment is
 * still empty after this many rounds has none.
 */
const UNSURE_ROUNDS = 3;

/** A position in the sequence of process ids that the system assigns. */
export interface PidPosition {
  readonly lastPid: number;
  /** Two positions can be compared only when they are of the same era. */
  readonly era: number;
}

/** A position as one process tells it another. */
export interface ToldPosition {
  readonly lastPid: number;
  /** When it was certain that the ids had not wrapped around since, by the monotonic clock of the system. */
  readonly certainAtMs: number;
}

let era = 0;
let last = { pid: Number.POSITIVE_INFINITY, at: 0 };
let lastPidFile: number | undefined;

/**
 * The current position. A new era begins when the ids have wrapped around or may have: too much time has passed since
 * the last call, or the system does not report the last id. For a step, call this before its first process can fork.
 */
export function readPidPosition(): PidPosition {
  const pid = readLastPid();
  const at = performance.now();
  if (pid === undefined || pid < last.pid || at - last.at > NO_WRAP_MS) era++;
  last = { pid: pid ?? 0, at };
  return { lastPid: last.pid, era };
}

/** The position for another process; undefined when the ids may have wrapped around since. */
export function toldPosition(position: PidPosition): ToldPosition | undefined {
  if (readPidPosition().era !== position.era) return undefined;
  return { lastPid: position.lastPid, certainAtMs: monotonicMs() };
}

/** A position that another process has told; without one, all processes will be read. */
export function positionOf(told: ToldPosition | undefined): PidPosition {
  const now = readPidPosition();
  const isCertain = told !== undefined && told.lastPid <= now.lastPid && monotonicMs() - told.certainAtMs <= NO_WRAP_MS;
  return isCertain ? { lastPid: told.lastPid, era: now.era } : { lastPid: 0, era: now.era - 1 };
}

function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/**
 * Kills the process group of a step, and every process with the step's mark together with its group. `since` is the
 * position at the step's start. Resolves when none is left, at once if there was none. False when this system has no
 * /proc: then only the group was killed, and its end is not confirmed.
 */
export async function killLeftovers(group: number, mark: string, since: PidPosition): Promise<boolean> {
  signalGroup(group, "SIGKILL");
  if (!existsSync("/proc/self/environ")) return false;
  const markEntry = Buffer.from(`${MARK}=${mark}\0`);
  for (let round = 0; round < ROUNDS; round++) {
    if (killOnce(group, markEntry, since, round < UNSURE_ROUNDS) === 0) break;
    await sleep(ROUND_MS);
  }
  return true;
}

/**
 * True when a look at a few processes shows that the step has left none. False when one may be left, or when more processes
 * would have to be read: then {@link killLeftovers} finds out, which may take long. `others`: ids of processes that are known to
 * be of other steps. Call it when the process group was killed.
 */
export function leavesNothing(group: number, mark: string, since: PidPosition, others: ReadonlySet<number>): boolean {
  if (!existsSync("/proc/self/environ")) return false;
  const markEntry = Buffer.from(`${MARK}=${mark}\0`);
  // A process may have forked before it ended. The new process has a higher id.
  for (let [from, to] = [since, readPidPosition()]; ; [from, to] = [to, readPidPosition()]) {
    const few = idsBetween(from, to, QUICK_IDS);
    if (few === undefined) return false;
    if (few.length === 0) return true;
    if (!few.every((pid) => others.has(pid) || isOfOther(pid, group, markEntry))) return false;
  }
}

/** False for a process that may be of the step. */
function isOfOther(pid: number, group: number, markEntry: Buffer): boolean {
  const itsGroup = groupOf(pid);
  if (itsGroup === undefined) return true;
  if (itsGroup === group) return false;
  const environment = read(`/proc/${pid}/environ`);
  return environment === undefined || (environment.length > 0 && !environment.includes(markEntry));
}

/** Resolves when no process of the group is left, at once if there was none. */
export async function whenGroupIsGone(group: number): Promise<void> {
  for (let round = 0; round < ROUNDS && allIds().some((pid) => groupOf(pid) === group); round++) await sleep(ROUND_MS);
}

/** What distinguishes the watcher of a step from the step: its command line. */
const WATCHER = "/bin/sh\0-s\0millrace-step\0";

/**
 * Sends a signal to every process whose mark contains `text`, in whatever group, and SIGCONT to the watchers of steps
 * among them: a watcher that is stopped could not end its step. Spares the groups of `spared`. No effect without /proc.
 */
export function signalMarked(text: string, signal: "SIGSTOP" | "SIGCONT", spared: ReadonlySet<number>): void {
  if (!existsSync("/proc/self/environ")) return;
  for (const pid of allIds()) {
    const group = groupOf(pid);
    if (group === undefined || spared.has(group)) continue;
    if (read(`/proc/${pid}/environ`)?.includes(text) === true) signalStep(pid, group, signal);
  }
}

/** Sends a signal to these processes of steps, and SIGCONT to the watchers among them. Spares the group `spared`. */
export function signalProcesses(pids: readonly number[], signal: NodeJS.Signals, spared?: number): void {
  for (const pid of pids) {
    const group = groupOf(pid);
    if (group !== undefined && group !== spared) signalStep(pid, group, signal);
  }
}

function signalStep(pid: number, group: number, signal: NodeJS.Signals): void {
  const isWatcher = pid !== group && read(`/proc/${pid}/cmdline`)?.toString("latin1").startsWith(WATCHER) === true;
  sendSignal(pid, isWatcher ? "SIGCONT" : signal);
}

/**
 * Kills the marked processes outside of the group. Returns how many processes of the step still exist, those of the
 * group included. With `countUnsure`, a process with an empty environment counts too.
 */
function killOnce(group: number, markEntry: Buffer, since: PidPosition, countUnsure: boolean): number {
  let found = 0;
  // A process may have forked before it was killed. The new process has a higher id.
  for (let [from, to] = [since, readPidPosition()]; ; [from, to] = [to, readPidPosition()]) {
    const few = idsBetween(from, to);
    for (const pid of few ?? allIds()) {
      const itsGroup = groupOf(pid);
      if (itsGroup === undefined) continue;
      if (itsGroup === group) {
        found++;
        continue;
      }
      const environment = read(`/proc/${pid}/environ`);
      if (environment?.length === 0 && countUnsure) found++;
      if (environment?.includes(markEntry) !== true) continue;
      found++;
      if (itsGroup > 1) signalGroup(itsGroup, "SIGKILL");
      sendSignal(pid, "SIGKILL");
    }
    if (few === undefined || few.length === 0) return found;
  }
}

/** The ids that were assigned between two positions; undefined when all processes must be read instead. */
function idsBetween(from: PidPosition, to: PidPosition, most = FEW_IDS): number[] | undefined {
  const count = to.lastPid - from.lastPid;
  if (from.era !== to.era || count > most) return undefined;
  return Array.from({ length: count }, (_, index) => from.lastPid + index + 1);
}

function allIds(): number[] {
  return readdirSync("/proc").map(Number).filter(Number.isInteger);
}

/** The process group; undefined when the process has ended, is a zombie or belongs to the kernel. */
function groupOf(pid: number): number | undefined {
  const stat = read(`/proc/${pid}/stat`)?.toString("latin1");
  if (stat === undefined) return undefined;
  // The name before the last parenthesis may hold any character.
  const [state, , group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return state === "Z" || state === "X" || group === "0" ? undefined : Number(group);
}

const space = Buffer.alloc(64 * 1024);

/** A file of /proc, valid until the next call; undefined when the process has ended or belongs to another user. */
function read(path: string): Buffer | undefined {
  // Checked first, because an exception costs much more than this call.
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

/** The process id that the system assigned last; undefined when it does not report it. */
function readLastPid(): number | undefined {
  try {
    lastPidFile ??= openSync("/proc/sys/kernel/ns_last_pid", "r");
    return Number.parseInt(space.toString("latin1", 0, readSync(lastPidFile, space, 0, 16, 0)), 10);
  } catch {
    return undefined;
  }
}
