/** What the launcher needs of a process of a step, however it was started. */
import type { ProcessExit } from "./launch-protocol.ts";

export interface StepProcess {
  /** The prefix of the marks of all processes under its lease. */
  readonly leaseMark: string;
  /** Resolves when the process exists; rejects when the system refuses it. */
  readonly begun: Promise<void>;
  /**
   * Resolves when the process itself has ended; other processes of the step may still run. Undefined when its starter
   * has ended, so that the exit is unknown; then no process of the step is left. Never resolves when `begun` rejects.
   */
  readonly exited: Promise<ProcessExit | undefined>;
  /** Sends a signal to the whole process group. No effect once the process itself has ended. */
  signal(name: NodeJS.Signals): void;
  /** Sends a signal to the processes that have left the group, as far as the isolation of the step finds them. */
  signalOthers(name: NodeJS.Signals): void;
  /** Kills all processes of the step, and resolves when none is left. Idempotent. */
  kill(): Promise<void>;
}
