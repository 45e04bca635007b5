/** What the agent and its launcher say to each other, as JSON over the channel that Node gives a child process. */
import type { ResourceUsage } from "../../domain/resource-usage.ts";

/** A process to be started under a supervisor. */
export interface Launch {
  /** The program, looked up in the PATH of `env`, and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** Absolute; must exist. */
  readonly cwd: string;
  /** Names must be names for a shell. */
  readonly env: Readonly<Record<string, string>>;
  /** The file that is its standard input; absent for none. */
  readonly stdin?: string;
  /** Paths of named pipes whose readers are open. */
  readonly stdout: string;
  readonly stderr: string;
  /** What the marks of all processes under the step's lease begin with. */
  readonly leaseMark: string;
  /** The process is not started unless this file is there; it then ends by itself with code 1. */
  readonly permitFile: string;
}

/** How a process itself ended; one of the first two is null. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Of it and all that it has started; absent when this system does not tell. */
  readonly usage?: ResourceUsage;
}

/** `id` is chosen by the agent, and never used again for the same launcher. */
export type LauncherRequest =
  | { readonly type: "start"; readonly id: number; readonly launch: Launch }
  | { readonly type: "signal"; readonly id: number; readonly signal: NodeJS.Signals }
  | { readonly type: "kill"; readonly id: number };

/** For each start: `refused`; or `started`, `exited` and `gone` in this order. */
export type LauncherReport =
  | { readonly type: "refused"; readonly id: number; readonly reason: string }
  | { readonly type: "started"; readonly id: number }
  | { readonly type: "exited"; readonly id: number; readonly exit: ProcessExit }
  | { readonly type: "gone"; readonly id: number };
