/**
 * The agent's guard: a shell beside the agent, in a session of its own, that also counts the agent's leases. An agent
 * that is stopped (SIGSTOP, a debugger, memory swapped out) cannot kill its steps, so the guard kills them. One guard
 * serves all steps. Its only cost for a step is that the step checks whether a file exists.
 *
 * Each lease has a number, a permit (an empty file) and a mark that all processes of its steps carry. When the lease
 * runs out, the guard first removes the permit and then kills every process with the mark. So a step that is just
 * starting is either killed, or does not find its permit. A number is never used again, so an agent that resumes cannot
 * start a step under a lease that has run out. The names of permits contain the name of their guard, so that no timer of
 * another guard removes them.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Clock } from "../../domain/clock.ts";
import type { Logger } from "../../domain/logger.ts";
import { engineEnvironment } from "./engine-environment.ts";
import { signalGroup } from "./process-group.ts";
import { MARK, KILL_CGROUPS, KILL_MARKED } from "./kill-script.ts";

/**
 * Kills every process with a mark that begins with $1, and the cgroups with such a name in the folder $2, if there is
 * one. Without /proc it finds the process groups of steps by their watchers, whose command lines contain the mark.
 */
const KILL_SCRIPT = `
${KILL_MARKED}
${KILL_CGROUPS}
kill_cgroups "\${2:+$2/$1}"
kill_marked "$1"
[ -r /proc/self/environ ] || ps -A -ww -o pgid= -o args= | while read -r group args; do
  case $args in *"millrace-step $1"*) kill -KILL "-$group" ;; esac
done
`;

/**
 * Defines `reap LABEL FILE`: removes the containers and networks with the label. The first line of the file is the command
 * that removes containers; without the file there are none.
 */
const REAP = `
reap() {
  read -r engine removal 2>/dev/null <"$2" || return
  containers=$("$engine" ps -aq --no-trunc --filter "label=$1")
  [ -z "$containers" ] || "$engine" $removal $containers
  networks=$("$engine" network ls -q --filter "label=$1")
  [ -z "$networks" ] || "$engine" network rm $networks
} </dev/null >/dev/null 2>&1
`;

/**
 * The guard itself. $1: the prefix of all marks of this agent, $2: the prefix of the paths of permits, $3: KILL_SCRIPT,
 * $4: the folder of the steps' cgroups, or nothing.
 * It reads one instruction a line: "LEASE SECONDS" makes the lease run out after that time and replaces earlier
 * instructions for that lease; "LEASE" gives the lease back. It prints the number of each lease that has run out.
 *
 * Each lease has one timer: a subshell that waits for one \`sleep\`, which keeps counting while this shell cannot run.
 * USR1 ends a timer. The timer waits for its sleep, and the guard waits for the timer, so that no zombie is left for
 * process 1 (the agent may be process 1 of a container). When the agent has ended, the end of the input makes the guard
 * kill everything that the agent left.
 */
const SCRIPT = `
${REAP}
trap '' HUP INT QUIT TERM PIPE ALRM USR2
kill_steps() { env "${MARK}=$1" /bin/sh -c "$2" millrace-kill "$1" "$3"; }
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
    kill_steps "$1$lease;" "$3" "$4"
    reap "millrace.lease=$1$lease" "$2containers"
  ) &
  eval "timer_$lease=$!"
done
kill_steps "$1" "$3" "$4"
reap "millrace.guard=$1" "$2containers"
[ -z "$4" ] || rmdir "$4"
kill -KILL 0
`;

/** A guard that lived for less than this time, milliseconds, is started again only after this time. */
const RESTART_MS = 1_000;

export interface GuardOptions {
  /** The folder for permits; it is created when it is missing. The owner of the folder empties it. */
  readonly folder: string;
  /** The cgroup that holds the cgroups of steps. Their names begin with the mark of the lease. */
  readonly cgroupFolder?: string | undefined;
  readonly clock: Clock;
  readonly log: Logger;
  /**
   * Called when the guard has found that a lease has run out and kills its steps. The caller must release the lease.
   */
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

  /** The prefix of the marks of all steps under this lease. */
  markOf(lease: number): string {
    return `${this.#name}-${lease};`;
  }

  /** The path of a file that exists until the lease has run out or is released. */
  permitOf(lease: number | "containers"): string {
    return join(this.#options.folder, `permit-${this.#name}-${lease}`);
  }

  /** False when the lease has run out or is released, and when another process has removed its permit. */
  hasPermit(lease: number): boolean {
    return existsSync(this.permitOf(lease));
  }

  /** Starts to count a lease. `deadline` is a time of the monotonic clock. Throws when the permit cannot be written. */
  open(lease: number, deadline: number): void {
    mkdirSync(this.#options.folder, { recursive: true, mode: 0o700 });
    writeFileSync(this.permitOf(lease), "");
    this.renew(lease, deadline);
  }

  /** Moves the end of a lease. The guard counts whole seconds, rounded up. */
  renew(lease: number, deadline: number): void {
    this.#deadlines.set(lease, deadline);
    this.#sendDeadline(lease, deadline);
  }

  /** Ends a lease, or cleans up after one that has run out. No step can start under it any more. */
  release(lease: number): void {
    this.#deadlines.delete(lease);
    rmSync(this.permitOf(lease), { force: true });
    this.#process.stdin?.write(`${lease}\n`);
  }

  /** See `Leases.holdsContainers`. Throws when the file cannot be written. */
  holdsContainers(removal: string): void {
    mkdirSync(this.#options.folder, { recursive: true, mode: 0o700 });
    writeFileSync(this.permitOf("containers"), `${removal}\n`);
  }

  /** Ends the guard, which kills all processes that are left of the steps. */
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
    const permits = join(this.#options.folder, `permit-${this.#name}-`);
    const args = [`${this.#name}-`, permits, KILL_SCRIPT, this.#options.cgroupFolder ?? ""];
    const child = spawn("/bin/sh", ["-c", SCRIPT, "millrace-guard", ...args], {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin", ...engineEnvironment() },
      stdio: ["pipe", "pipe", "ignore"],
      detached: true,
    });
    child.stdin.on("error", () => {}); // "exit" follows.
    createInterface(child.stdout).on("line", (line) => this.#ranOut(Number(line)));
    child.once("error", (error) => this.#died(child, error.message));
    child.once("exit", (code, signal) => this.#died(child, signal ?? `exit ${code}`));
    return child;
  }

  /** Kills the timers of the dead guard, since no renewal would reach them, and starts another guard. */
  #died(child: ChildProcess, ending: string): void {
    if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
    if (this.#isClosed) return;
    this.#options.log.warn({ ending }, "the guard of this agent has ended; starting it again");
    const livedMs = this.#options.clock.monotonic() - this.#startedAt;
    this.#restartTimer = setTimeout(() => this.#restart(), livedMs < RESTART_MS ? RESTART_MS : 0);
  }

  #restart(): void {
    this.#process = this.#start();
    for (const [lease, deadline] of this.#deadlines) this.#sendDeadline(lease, deadline);
  }

  #sendDeadline(lease: number, deadline: number): void {
    const leftMs = Math.max(0, deadline - this.#options.clock.monotonic());
    this.#process.stdin?.write(`${lease} ${Math.ceil(leftMs / 1_000)}\n`);
  }

  #ranOut(lease: number): void {
    if (this.#deadlines.has(lease)) this.#options.onRunOut(lease);
  }
}
