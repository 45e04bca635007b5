/** The messages between the agent and its launcher: JSON over the channel that Node gives a child process. */
import type { ResourceUsage } from "../../domain/resource-usage.ts";
import type { StarterEnd, StarterStep } from "./step-keeper.ts";
import type { Moment } from "./time-jump.ts";

/** A process to be started under a supervisor. */
export interface Launch {
  /** The program, looked up in the PATH of `env`, and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** An absolute path that must exist. */
  readonly cwd: string;
  /** A shell must accept the names as names of variables. */
  readonly env: Readonly<Record<string, string>>;
  /** The path of the file for its standard input; absent for an empty one. */
  readonly stdin?: string;
  /** Paths of named pipes whose read ends are open. */
  readonly stdout: string;
  readonly stderr: string;
  /** The prefix of the marks of all processes under the step's lease. */
  readonly leaseMark: string;
  /** If this file does not exist, the program is not started: see {@link ProcessExit.obstacle}. */
  readonly permitFile: string;
}

/** How a process itself ended. Either `code` or `signal` is null. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The usage of the process and of all that it has started; absent when this system does not report it. */
  readonly usage?: ResourceUsage;
  /** Set when the program was not started: what was missing. */
  readonly obstacle?: LaunchObstacle;
}

/**
 * What a supervisor may find missing after its start was reported: the permit, the working directory, or the isolation
 * of its step.
 */
export const LAUNCH_OBSTACLES = ["permit", "folder", "isolation"] as const;
export type LaunchObstacle = (typeof LAUNCH_OBSTACLES)[number];

/** The agent chooses the `id` of a start, and never uses it again for the same launcher. */
export type LauncherRequest =
  | { readonly type: "start"; readonly id: number; readonly launch: Launch }
  | { readonly type: "signal"; readonly id: number; readonly signal: NodeJS.Signals }
  | { readonly type: "kill"; readonly id: number }
  /** The steps that `hold` has stopped may continue. Without effect when a later hold has begun. */
  | { readonly type: "resume"; readonly hold: number }
  | KeeperRequest;

/**
 * About steps that the starters of the agent have forked; see `StepKeeper`. The agent chooses the `id` of an end, and never uses
 * it again for the same launcher.
 */
export type KeeperRequest =
  /** All process groups of starters, which no hold may stop. */
  | { readonly type: "starters"; readonly groups: readonly number[] }
  /** Such steps run since this moment, or run no more. Meanwhile the launcher looks for jumps of the clocks. */
  | { readonly type: "busy"; readonly since: Moment | null }
  | { readonly type: "watch"; readonly steps: readonly StarterStep[] }
  | { readonly type: "killAll"; readonly step: StarterStep }
  | { readonly type: "end"; readonly id: number; readonly step: StarterStep; readonly end: StarterEnd };

/**
 * A message of the launcher is a list of reports. Answers to each start: `refused`, or `started`, `exited` and `gone` in this
 * order. `held` answers nothing: time has passed in which the launcher did not run, and it has stopped all steps. No step
 * starts until they are resumed.
 */
export type LauncherReport =
  | { readonly type: "refused"; readonly id: number; readonly reason: string }
  | { readonly type: "started"; readonly id: number }
  /** Without an exit when it is not known, because another process has ended the one that started the step. */
  | { readonly type: "exited"; readonly id: number; readonly exit?: ProcessExit | undefined }
  | { readonly type: "gone"; readonly id: number }
  | { readonly type: "held"; readonly hold: number; readonly jumpMs: number }
  | { readonly type: "kept"; readonly report: KeeperReport };

/** Answers to an `end`, in this order. */
export type KeeperReport =
  | { readonly type: "usage"; readonly id: number; readonly usage?: ResourceUsage | undefined }
  | { readonly type: "gone"; readonly id: number };
