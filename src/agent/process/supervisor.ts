/**
 * One process of a step under its supervisor. The process has a process group of its own and a lifeline, a pipe whose
 * other end only the launcher holds. When the lifeline closes, the group is killed. The system closes the lifeline even
 * when the launcher is killed, so no step outlives its agent. What has left the group is found by the step's isolation.
 *
 * The supervisor is a shell that is started before it is needed. It waits for the launch script of a step and then
 * becomes the process of that step.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Socket } from "node:net";
import { join } from "node:path";
import { ownPath } from "../../program-path.ts";
import { endCgroup, makeCgroup, processesOf } from "./cgroups.ts";
import { killLeftovers, readPidPosition, signalProcesses, whenGroupIsGone } from "./leftover-processes.ts";
import { launchScript } from "./launch-script.ts";
import { type Launch, LAUNCH_OBSTACLES, type LaunchObstacle, type ProcessExit } from "./launch-protocol.ts";
import { signalGroup } from "./process-group.ts";
import { descendantsOf, innerGroupOf } from "./process-tree.ts";
import { MARK, KILL_CGROUPS, KILL_MARKED } from "./kill-script.ts";
import { cgroupFolderOf, preludeOf, type StepIsolation, supervisorStart } from "./step-isolation.ts";
import { changeUser, type Owner } from "./step-user.ts";
import { UsageMeter } from "./usage-meter.ts";

/**
 * The start of the supervisor's standard input; the launch script follows, see {@link supervisorOf} for another user. $2: the mark, $3: the step's cgroup, if there
 * is one. Descriptor 3 is the lifeline.
 *
 * The script starts a watcher, and then enters the cgroup. The watcher is forked twice, so that it is not a child of the step's process: a program
 * that waits for all its children would wait for the watcher indefinitely. When the lifeline closes, the watcher kills
 * every process with the mark, in or outside of the group (Linux), and then the group with itself. It ignores the
 * signals by which a step is asked to end, and holds none of the step's descriptors. The script assigns no variable
 * outside of the watcher, since the step may have a variable of the same name. The launch script closes descriptor 3.
 */
const SCRIPT = `
( {
  trap '' HUP INT QUIT TERM PIPE ALRM USR1 USR2
  read -r line
  LC_ALL=C
  export LC_ALL
  ${KILL_MARKED}
  ${KILL_CGROUPS}
  kill_cgroups "$3"
  kill_marked "$2"
  kill -KILL 0
} <&3 3<&- >/dev/null 2>&1 & )
[ -z "$3" ] || echo 0 >"$3/cgroup.procs" || exit
`;

/** The supervisor's command line; its arguments follow. */
const SUPERVISOR = ["/bin/sh", "-s", "millrace-step"] as const;

/**
 * Where steps run as another user, a first shell does what needs the agent's rights: it starts the watcher, which the step
 * cannot kill then, and enters the cgroup. It reads nothing of the step, since a variable such as LD_PRELOAD would act with
 * those rights. Then the supervisor takes its place, as the user.
 */
function supervisorOf(
  script: string,
  args: readonly [mark: string, cgroup: string],
  user: Owner | null,
): readonly [string, ...string[]] {
  const supervisor = [...SUPERVISOR, ...args] as const;
  if (user === null) return supervisor;
  const first = `${script}shift 3\nexec "$@"`;
  return ["/bin/sh", "-c", first, "sh", "millrace-step", ...args, ...changeUser(user), ...supervisor];
}

/** Counts the children of this process, which are supervisors or their parents. */
const meter = new UsageMeter();

export class SupervisedProcess {
  /** The prefix of the marks of all processes under its lease. */
  readonly leaseMark: string;
  /** Resolves when the process itself has ended; other processes of the step may still run. */
  readonly exited: Promise<ProcessExit>;
  readonly #child: ChildProcess;
  /** The supervisor, or the parent that its isolation gives it. */
  readonly #pid: number;
  readonly #mark: string;
  readonly #isolation: StepIsolation;
  readonly #hasParent: boolean;
  readonly #cgroup: string | undefined;
  #group: number | undefined;
  readonly #lifeline: Socket;
  /** What the supervisor has written to its lifeline. */
  #told = "";
  #startPosition = readPidPosition();
  #running = true;
  #end: Promise<void> | undefined;

  /**
   * Starts a supervisor. Throws when the system refuses. `mark` is unique and begins with `leaseMark`. `user`: as whom the
   * step runs; null: as this process.
   */
  constructor(leaseMark: string, mark: string, isolation: StepIsolation, user: Owner | null = null) {
    const folder = cgroupFolderOf(isolation);
    this.#cgroup = folder === undefined ? undefined : join(folder, mark);
    if (this.#cgroup !== undefined) makeCgroup(this.#cgroup);
    const script = preludeOf(isolation) + SCRIPT;
    const own = supervisorOf(script, [mark, this.#cgroup ?? ""], user);
    const { command, hasParent, isMarked } = supervisorStart(isolation, own, `${MARK}=${mark}`);
    const [program, ...args] = command;
    const child = spawn(program, args, {
      cwd: "/",
      // The mark must not be the first variable: see KILL_MARKED.
      env: { PATH: ownPath(), ...(isMarked ? { [MARK]: mark } : {}) },
      stdio: ["pipe", "ignore", "ignore", "pipe"],
      detached: true,
    });
    // Without a process id, the constructor throws below. Later errors come only from `child.kill`, which is not used
    // here.
    child.on("error", () => {});
    if (child.pid === undefined)
      throw new Error("the system refuses to start another process: too many are running, or its memory is full");
    this.leaseMark = leaseMark;
    this.#child = child;
    this.#pid = child.pid;
    this.#mark = mark;
    this.#isolation = isolation;
    this.#hasParent = hasParent;
    this.exited = new Promise((resolve) =>
      child.once("exit", (code, signal) => {
        this.#running = false;
        void Promise.all([meter.end(this.#pid), this.#obstacleOf(code)]).then(([usage, obstacle]) =>
          resolve({
            code,
            signal,
            ...(usage === undefined ? {} : { usage }),
            ...(obstacle === undefined ? {} : { obstacle }),
          }),
        );
      }),
    );
    this.#lifeline = child.stdio[3] as Socket;
    this.#lifeline.on("error", () => {}); // "close" follows.
    // Once the program runs, the watcher alone holds the other end and sends nothing. Reading shows when it has ended.
    this.#lifeline.on("data", (text) => {
      this.#told += text.toString();
      // Looked up now, since the supervisor surely exists.
      void this.group;
    });
    // A step that has killed its watcher could outlive the agent, so it is killed.
    this.#lifeline.once("close", () => this.#running && this.#killGroups());
    child.stdin!.on("error", () => {}); // "exit" follows.
    if (user === null) child.stdin!.write(script);
  }

  get isRunning(): boolean {
    return this.#running;
  }

  /** The process group of the step; that of its parent as long as the supervisor does not exist. */
  get group(): number {
    if (!this.#hasParent) return this.#pid;
    return (this.#group ??= innerGroupOf(this.#pid)) ?? this.#pid;
  }

  /** Makes the supervisor the process of a step. Call it once. */
  become(launch: Launch): void {
    this.#startPosition = readPidPosition();
    meter.begin(this.#pid, () => this.group);
    this.#child.stdin!.end(launchScript({ ...launch, env: { ...launch.env, [MARK]: this.#mark } }));
  }

  /**
   * Sends a signal to the whole group. No effect once the process itself has ended, since its id may be reused then.
   */
  signal(name: NodeJS.Signals): void {
    if (this.#running) signalGroup(this.group, name);
  }

  /** Sends a signal to the processes that have left the group, as far as the isolation of the step finds them. */
  signalOthers(name: NodeJS.Signals): void {
    const pids = this.#cgroup === undefined ? this.#descendants() : processesOf(this.#cgroup);
    // The first process of a namespace is in the group of the parent. It must see the end of the lifeline.
    signalProcesses(pids, name, this.#pid === this.group ? undefined : this.#pid);
  }

  #descendants(): number[] {
    return this.#hasParent && this.#running ? descendantsOf(this.#pid) : [];
  }

  /** Kills all processes of the step, and resolves when none is left. Idempotent. */
  kill(): Promise<void> {
    return (this.#end ??= this.#killAll());
  }

  /** Why the program was not started; undefined when it was. */
  async #obstacleOf(code: number | null): Promise<LaunchObstacle | undefined> {
    if (code === null || code === 0 || this.#told !== "") return this.#toldObstacle();
    // The exit may arrive before the text on the lifeline. Without the watcher, the lifeline closes after the text.
    this.#killGroups();
    if (!this.#lifeline.closed) await once(this.#lifeline, "close");
    return this.#toldObstacle() ?? (this.#told === "" ? "isolation" : undefined);
  }

  #toldObstacle(): LaunchObstacle | undefined {
    return LAUNCH_OBSTACLES.find((obstacle) => this.#told === `${obstacle}\n`);
  }

  #killGroups(): void {
    const { group } = this;
    if (group !== this.#pid) signalGroup(group, "SIGKILL");
    // The parent of a subreaper kills what is left of the step, and then ends by itself.
    const endsByItself = this.#isolation.kind === "subreaper" && (this.#group !== undefined || this.#told !== "");
    if (!endsByItself) signalGroup(this.#pid, "SIGKILL");
  }

  async #killAll(): Promise<void> {
    if (this.#running) meter.sampleNow();
    this.#killGroups();
    if (this.#cgroup !== undefined) await endCgroup(this.#cgroup);
    if (this.#isolation.kind === "pid-namespace") await whenGroupIsGone(this.#pid);
    if (this.#isolation.kind === "subreaper") await this.exited;
    const isConfirmed = await killLeftovers(this.group, this.#mark, this.#startPosition);
    // Without /proc, the end of the watcher is the best sign of the end of its group.
    if (!isConfirmed && !this.#lifeline.closed) await once(this.#lifeline, "close");
    this.#lifeline.destroy();
    await this.exited;
  }
}
