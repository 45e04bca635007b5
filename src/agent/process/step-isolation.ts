/**
 * How an agent finds every process that a step has started, also one that has cleared its environment and left its
 * process group. The kinds in the order in which `auto` tries them:
 *
 * - `cgroup`: each step has a control group, which no process leaves without being moved.
 * - `pid-namespace`: each step has a PID namespace, which ends with its first process.
 * - `subreaper`: each step has a parent to which the system gives the step's orphans.
 * - `mark`: the step's processes are known by a variable of their environment alone.
 *
 * Every kind looks for the mark as well.
 */
import { OF_A_SUBREAPER, IN_A_PID_NAMESPACE } from "./step-parents.ts";

export const ISOLATION_KINDS = ["cgroup", "pid-namespace", "subreaper", "mark"] as const;
export type IsolationKind = (typeof ISOLATION_KINDS)[number];

/** What the launcher needs to know. It is passed on as JSON. */
export type StepIsolation =
  /** `folder`: the cgroup of the agent's steps, which holds one cgroup for each step. */
  | { readonly kind: "cgroup"; readonly folder: string; readonly starter?: StarterKind }
  | { readonly kind: "pid-namespace" }
  /** `interpreter`: a program that can call the system by number, or a name of the C library. */
  | { readonly kind: "subreaper"; readonly interpreter: "perl" | "python3" }
  | { readonly kind: "mark"; readonly starter?: StarterKind };

/** What forks the processes of steps. Without one, each step has a supervisor of its own. */
export type StarterKind = "perl";

export const BY_MARK: StepIsolation = { kind: "mark" };

/** The cgroup that holds one cgroup for each step; undefined without cgroups. */
export function cgroupFolderOf(isolation: StepIsolation): string | undefined {
  return isolation.kind === "cgroup" ? isolation.folder : undefined;
}

export function starterOf(isolation: StepIsolation): StarterKind | undefined {
  return isolation.kind === "cgroup" || isolation.kind === "mark" ? isolation.starter : undefined;
}

/** How a supervisor is started under an isolation. */
export interface SupervisorStart {
  readonly command: readonly [program: string, ...args: string[]];
  /** Whether the started process is the parent of the supervisor, which has a session of its own then. */
  readonly hasParent: boolean;
  /** Whether the started process itself carries the mark. */
  readonly isMarked: boolean;
}

/** Shell text that runs first where the supervisor starts. It needs the agent's rights. */
export function preludeOf({ kind }: StepIsolation): string {
  return kind === "pid-namespace" ? IN_A_PID_NAMESPACE.prelude : "";
}

/** `supervisor`: the supervisor's own command line. `markEntry`: its mark as `NAME=value`. */
export function supervisorStart(
  isolation: StepIsolation,
  supervisor: readonly [string, ...string[]],
  markEntry: string,
): SupervisorStart {
  switch (isolation.kind) {
    case "pid-namespace": {
      const { command } = IN_A_PID_NAMESPACE;
      return { command: [...command, ...supervisor], hasParent: true, isMarked: true };
    }
    case "subreaper": {
      const command = OF_A_SUBREAPER[isolation.interpreter];
      // The parent carries no mark: it must outlive the marked processes to find the others.
      const child = ["env", markEntry, "setsid", ...supervisor];
      return { command: [...command, ...child], hasParent: true, isMarked: false };
    }
    case "cgroup":
    case "mark":
      return { command: supervisor, hasParent: false, isMarked: true };
  }
}
