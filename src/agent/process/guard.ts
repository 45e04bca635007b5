/**
 * The agent's guard: a shell outside of the agent, in a session of its own, that counts the agent's leases beside it. An
 * agent that is stopped (SIGSTOP, a debugger, memory swapped out) cannot kill its steps; the guard does. One guard serves
 * all steps: it costs a step nothing but the look for a file.
 *
 * Each lease has a number, a permit (an empty file) and a mark that all processes of its steps carry. When its time is
 * over the guard removes the permit first and then kills what carries the mark: a step that begins is either found, or does
 * not find its permit. A number is never used again, so an agent that wakes up cannot start a step under a lease that is over.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Clock } from "../../domain/clock.ts";
import type { Logger } from "../../domain/logger.ts";
import { signalGroup } from "./process-group.ts";
import { MARK, SWEEP } from "./kill-script.ts";

/**
 * $1: what the marks of this agent's steps begin with. Without /proc the groups are found by their watchers, whose
 * arguments show the mark.
 */
const KILL = `
${SWEEP}
sweep "$1"
[ -r /proc/self/environ ] || ps -A -ww -o pgid= -o args= | while read -r group args; do
  case $args in *"millrace-step $1"*) kill -KILL "-$group" ;; esac
done
`;

/**
 * $1: what all marks begin with, $2: what permits begin with, $3: KILL. Reads lines "LEASE SECONDS": that lease runs out
 * so much later, whatever was said of it before; or "LEASE": it is given back. Prints a lease that has run out.
 *
 * Time is one \`sleep\` a lease, which also counts while this shell cannot run. Each timer is told to end by USR1, waits
 * for its sleep, and is waited for: an agent that is a container's first process would collect what is left over. When
 * the agent is gone, so is all that was its own.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM PIPE ALRM USR2
finish() { env "${MARK}=$1" /bin/sh -c "$2" millrace-sweep "$1"; }
while read -r lease seconds; do
  eval "timer=\\\${timer_$lease-}"
  if [ -n "$timer" ]; then
    kill -USR1 "$timer"
    wait "$timer"
  fi
  if [ -z "$seconds" ]; then
    unset "timer_$lease"
    continue
  fi
  (
    sleep "$seconds" >/dev/null &
    trap "kill -KILL $!; wait $!; exit" USR1
    wait $! || exit
    trap '' USR1
    rm -f "$2$lease"
    echo "$lease"
    finish "$1$lease;" "$3"
  ) &
  eval "timer_$lease=$!"
done
finish "$1" "$3"
kill -KILL 0
`;

/** Between the ends of two guards before the next is started, milliseconds: one that cannot live is no busy loop. */
const RESTART_MS = 1_000;

export interface GuardOptions {
  /** For permits; emptied by whoever made it. */
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** The guard has found that a lease is over, and kills its steps; the lease is to be released. */
  readonly onRunOut: (lease: number) => void;
}

export class Guard {
  readonly #options: GuardOptions;
  readonly #name = randomUUID();
  /** When each lease runs out by the monotonic clock. */
  readonly #deadlines = new Map<number, number>();
  #process: ChildProcess;
  #startedAt = 0;
  #restartTimer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#process = this.#start();
  }

  /** What the marks of all steps under this lease begin with. */
  markOf(lease: number): string {
    return `${this.#name}-${lease};`;
  }

  /** A file that is there until the lease has run out or is given back. */
  permitOf(lease: number): string {
    return join(this.#options.folder, `permit-${lease}`);
  }

  /** Begins to count a lease; throws when its permit cannot be written. */
  open(lease: number, deadline: number): void {
    writeFileSync(this.permitOf(lease), "");
    this.renew(lease, deadline);
  }

  /** Moves the end of a lease; whole seconds, rounded up. */
  renew(lease: number, deadline: number): void {
    this.#deadlines.set(lease, deadline);
    this.#tell(lease, deadline);
  }

  /** Gives a lease back, or what is left of one that has run out: no step may start under it any more. */
  release(lease: number): void {
    this.#deadlines.delete(lease);
    rmSync(this.permitOf(lease), { force: true });
    this.#process.stdin?.write(`${lease}\n`);
  }

  /** Ends the guard and whatever is left of the steps. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#restartTimer);
    const ending = this.#process;
    if (ending.pid === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const gone = once(ending, "exit");
    ending.stdin?.end();
    await gone;
  }

  #start(): ChildProcess {
    this.#startedAt = this.#options.clock.monotonic();
    const permits = join(this.#options.folder, "permit-");
    const child = spawn("/bin/sh", ["-c", SCRIPT, "millrace-guard", `${this.#name}-`, permits, KILL], {
      cwd: "/",
      env: { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: "C" },
      stdio: ["pipe", "pipe", "ignore"],
      detached: true,
    });
    child.stdin.on("error", () => {}); // "exit" follows.
    createInterface(child.stdout).on("line", (line) => this.#ranOut(Number(line)));
    child.once("error", (error) => this.#died(child, error.message));
    child.once("exit", (code, signal) => this.#died(child, signal ?? `exit ${code}`));
    return child;
  }

  /** Its timers go with it: they would not hear of renewals. */
  #died(child: ChildProcess, ending: string): void {
    if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
    if (this.#isClosed) return;
    this.#options.log.warn({ ending }, "the guard of this agent has ended; starting it again");
    const livedMs = this.#options.clock.monotonic() - this.#startedAt;
    this.#restartTimer = setTimeout(() => this.#restart(), livedMs < RESTART_MS ? RESTART_MS : 0);
  }

  #restart(): void {
    this.#process = this.#start();
    for (const [lease, deadline] of this.#deadlines) this.#tell(lease, deadline);
  }

  #tell(lease: number, deadline: number): void {
    const leftMs = Math.max(0, deadline - this.#options.clock.monotonic());
    this.#process.stdin?.write(`${lease} ${Math.ceil(leftMs / 1_000)}\n`);
  }

  #ranOut(lease: number): void {
    if (this.#deadlines.has(lease)) this.#options.onRunOut(lease);
  }
}
