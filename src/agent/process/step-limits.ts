/**
 * Bounds of the programs of steps that run on the agent itself: memory, processes and processors. Each step has a control
 * group for them where the agent may make one; elsewhere `prlimit` bounds each process of the step.
 */
import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MillraceError } from "../../domain/errors.ts";
import type { Logger } from "../../domain/logger.ts";
import { findOnPath } from "../../program-path.ts";
import { type Controller, type ControllerGroup, controllerGroups, endCgroup, oomKillsIn } from "./cgroups.ts";
import type { Owner } from "./step-user.ts";

/** Null for no bound. */
export interface StepLimits {
  readonly memoryBytes: number | null;
  /** How many processes and threads. */
  readonly pids: number | null;
  /** How many processors, such as 1.5. */
  readonly cpus: number | null;
}

export type Command = readonly [program: string, ...args: string[]];

/** The command of one step under its bounds. */
export interface LimitedCommand {
  readonly command: Command;
  /** Whether the kernel has killed a process of the step for lack of memory. Call it before {@link end}. */
  ranOutOfMemory(): boolean;
  /** Kills what is left in the group, and removes it. Call it after the step. */
  end(): Promise<void>;
}

export interface BoundedSteps {
  readonly kind: "cgroup" | "prlimit";
  /** `leaseMark`: the mark of the lease of the step. Throws `unavailable` when the system makes no group. */
  limit(command: Command, leaseMark: string): LimitedCommand;
}

const PERIOD_US = 100_000;
const PROBE_MS = 5_000;
const PROBE_EXIT = 7;

/** Enters the groups of the arguments before `--`, and becomes the program behind it. Perl changes no variable of the step. */
const ENTER_BY_PERL = [
  "-e",
  `while (($_ = shift) ne "--") { open(my $g, ">", $_) && syswrite($g, "0") or die "millrace: $_: $!\\n" }
   exec { $ARGV[0] } @ARGV; my $e = $! + 0; print STDERR "millrace: $ARGV[0]: $!\\n"; exit($e == 2 ? 127 : 126)`,
];
const ENTER_BY_SHELL = [
  "/bin/sh",
  "-c",
  'while [ "$1" != -- ]; do echo 0 >"$1" || exit 125; shift; done; shift; exec "$@"',
  "millrace-limits",
] as const satisfies Command;

export interface LimitedPlace {
  readonly dataDir: string;
  /** The cgroup that holds the cgroups of steps, if the agent has one. */
  readonly cgroupFolder: string | undefined;
  /** As whom steps run; undefined: as the agent. */
  readonly user: Owner | undefined;
  readonly log: Logger;
}

/**
 * Finds out how this machine bounds steps, by running a program under the bounds. Undefined without bounds. First ends what
 * an earlier agent has left in its groups, so call it only while this agent owns the data directory. Throws
 * `malformed_request` when a bound cannot hold here.
 */
export async function openStepLimits(
  limits: StepLimits,
  { dataDir, cgroupFolder, user, log }: LimitedPlace,
): Promise<BoundedSteps | undefined> {
  const wanted = controllersOf(limits);
  if (wanted.length === 0) return undefined;
  const name = `limits-${createHash("sha256").update(dataDir).digest("hex").slice(0, 16)}`;
  const groups = controllerGroups(wanted, name, cgroupFolder);
  if (groups !== undefined) {
    for (const { folder } of groups) if (folder !== cgroupFolder) await endCgroup(folder);
    const perl = findOnPath("perl");
    for (const enter of [...(perl === undefined ? [] : [[perl, ...ENTER_BY_PERL] as const]), ENTER_BY_SHELL]) {
      const bounded = new GroupLimits(limits, groups, enter, user);
      if (await works(bounded, user)) return told(bounded, log);
    }
  }
  if (limits.cpus !== null) {
    throw new MillraceError(
      "malformed_request",
      "this agent cannot bound the processors of steps: it may not make control groups with the controller `cpu`. Delegate them to it, or leave `step-cpus` out",
    );
  }
  const bounded = new ProcessLimits(limits, findOnPath("prlimit") ?? "prlimit");
  if (!(await works(bounded, user))) {
    throw new MillraceError(
      "malformed_request",
      "this agent cannot bound steps: it may not make control groups, and `prlimit` of util-linux does not work here",
    );
  }
  if (limits.pids !== null && (user?.uid ?? process.geteuid!()) === 0) {
    log.warn({}, "the bound on processes does not hold: steps run as root, and this agent may not make control groups");
  }
  return told(bounded, log);
}

function told(bounded: BoundedSteps, log: Logger): BoundedSteps {
  log.info({ by: bounded.kind }, "steps are bounded");
  return bounded;
}

function controllersOf({ memoryBytes, pids, cpus }: StepLimits): readonly Controller[] {
  return [
    ...(memoryBytes === null ? [] : (["memory"] as const)),
    ...(pids === null ? [] : (["pids"] as const)),
    ...(cpus === null ? [] : (["cpu"] as const)),
  ];
}

class GroupLimits implements BoundedSteps {
  readonly kind = "cgroup";
  readonly #limits: StepLimits;
  readonly #groups: readonly ControllerGroup[];
  readonly #enter: Command;
  readonly #user: Owner | undefined;

  constructor(limits: StepLimits, groups: readonly ControllerGroup[], enter: Command, user: Owner | undefined) {
    this.#limits = limits;
    this.#groups = groups;
    this.#enter = enter;
    this.#user = user;
  }

  limit(command: Command, leaseMark: string): LimitedCommand {
    // The guard finds groups of steps by their lease.
    const name = `${leaseMark}limits-${randomUUID()}`;
    const folders = this.#groups.map(({ folder }) => join(folder, name));
    const end = async () => void (await Promise.all(folders.map(endCgroup)));
    try {
      for (const [index, group] of this.#groups.entries()) this.#make(folders[index]!, group);
    } catch (error) {
      void end();
      const text = `the system makes no control group for the bounds of the step: ${(error as Error).message}`;
      throw new MillraceError("unavailable", text, { cause: error });
    }
    const entries = folders.map((folder) => join(folder, "cgroup.procs"));
    return {
      command: [...this.#enter, ...entries, "--", ...command],
      ranOutOfMemory: () => folders.some((folder) => oomKillsIn(readEvents(folder)) > 0),
      end,
    };
  }

  #make(folder: string, { version, controllers }: ControllerGroup): void {
    mkdirSync(folder, { recursive: true });
    for (const [file, text] of boundsIn(this.#limits, version, controllers)) {
      const path = join(folder, file);
      // Kernels without accounting of swap lack its files.
      if (existsSync(path) || !file.includes("sw")) writeFileSync(path, text);
    }
    // The program enters the group by itself, as the step's user.
    if (this.#user !== undefined) chownSync(join(folder, "cgroup.procs"), this.#user.uid, this.#user.gid);
  }
}

/** The files of a group and what they get, in this order: swap may never be below memory. */
export function boundsIn(
  { memoryBytes, pids, cpus }: StepLimits,
  version: 1 | 2,
  controllers: readonly Controller[],
): readonly (readonly [file: string, text: string])[] {
  const quota = cpus === null ? "" : String(Math.max(1_000, Math.round(cpus * PERIOD_US)));
  const memory = String(memoryBytes);
  const files: Readonly<Record<1 | 2, Record<Controller, readonly (readonly [string, string])[]>>> = {
    1: {
      memory: [
        ["memory.limit_in_bytes", memory],
        ["memory.memsw.limit_in_bytes", memory],
      ],
      pids: [["pids.max", String(pids)]],
      cpu: [
        ["cpu.cfs_period_us", String(PERIOD_US)],
        ["cpu.cfs_quota_us", quota],
      ],
    },
    2: {
      memory: [
        ["memory.max", memory],
        ["memory.swap.max", "0"],
      ],
      pids: [["pids.max", String(pids)]],
      cpu: [["cpu.max", `${quota} ${PERIOD_US}`]],
    },
  };
  return controllers.flatMap((controller) => files[version][controller]);
}

/** Version 1 counts in `memory.oom_control`, version 2 in `memory.events`. */
function readEvents(folder: string): string {
  const files = ["memory.events", "memory.oom_control"]
    .map((name) => join(folder, name))
    .filter((file) => existsSync(file));
  return files.map((file) => readFileSync(file, "latin1")).join("\n");
}

/** The form without control groups: bounds of each process. */
export class ProcessLimits implements BoundedSteps {
  readonly kind = "prlimit";
  readonly #limits: StepLimits;
  readonly #program: string;

  /** `program`: the path of `prlimit`. */
  constructor(limits: StepLimits, program: string) {
    this.#limits = limits;
    this.#program = program;
  }

  limit(command: Command): LimitedCommand {
    const { memoryBytes, pids } = this.#limits;
    // Data, not the address space: runtimes reserve far more addresses than they use.
    const bounds = [
      ...(memoryBytes === null ? [] : [`--data=${memoryBytes}`]),
      ...(pids === null ? [] : [`--nproc=${pids}`]),
    ];
    return {
      command: [this.#program, ...bounds, "--", ...command],
      ranOutOfMemory: () => false,
      end: () => Promise.resolve(),
    };
  }
}

/** Whether a program runs under the bounds. */
async function works(bounded: BoundedSteps, user: Owner | undefined): Promise<boolean> {
  let limited: LimitedCommand;
  try {
    limited = bounded.limit(["/bin/sh", "-c", `exit ${PROBE_EXIT}`], "probe-");
  } catch {
    return false;
  }
  const [program, ...args] = limited.command;
  const options = { cwd: "/", timeout: PROBE_MS, ...(user === undefined ? {} : { uid: user.uid, gid: user.gid }) };
  const code = await new Promise<unknown>((resolve) =>
    execFile(program, args, options, (error) => resolve(error?.code)),
  );
  await limited.end();
  return code === PROBE_EXIT;
}
