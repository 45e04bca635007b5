/** The frame of every command: signals, errors and exit statuses. Tests run a command in the same frame as the program. */
import { MillraceError } from "../domain/errors.ts";
import { EXIT } from "./exit-codes.ts";
import { aborted, Interrupted, type Interruption, listenForInterruption } from "./interruption.ts";

const SHUTDOWN_MS = 30_000;

/** A wrong value on the command line or in the environment; the exit status is 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export interface FailureParts {
  /** Printed below the message. */
  readonly details?: readonly string[];
  /** What the user can do about it. */
  readonly next?: string | undefined;
  /** For programs, beside the message. */
  readonly machine?: Readonly<Record<string, unknown>>;
}

/** A failure that a command expects: it ends with an exit status of its own, and without a stack. */
export class CommandFailure extends Error {
  override readonly name = "CommandFailure";
  readonly exitCode: number;
  readonly parts: FailureParts;
  /** The whole text for stderr. */
  readonly text: string;

  constructor(message: string, exitCode: number, parts: FailureParts = {}, text?: string) {
    super(message);
    this.exitCode = exitCode;
    this.parts = parts;
    const details = (parts.details ?? []).map((line) => `\n  ${line}`).join("");
    const next = parts.next === undefined ? "" : `\nnext: ${parts.next}`;
    this.text = text ?? `error: ${message}${details}${next}`;
  }

  /** The same failure, printed as `{ "error": { message, exitStatus, next?, ... } }` on one line. */
  asJson(): CommandFailure {
    const { next, machine } = this.parts;
    const error = { message: this.message, exitStatus: this.exitCode, next, ...machine };
    return new CommandFailure(this.message, this.exitCode, this.parts, JSON.stringify({ error }));
  }
}

/** How a command reacts to signals. */
interface CommandOptions {
  /** True for a command that runs until SIGTERM: its exit status is then 0. */
  readonly runsUntilSigterm: boolean;
  /** The command bounds its own shutdown. A second signal aborts `urgent` and does not end the process. */
  readonly boundsShutdown?: true;
}

/**
 * Runs a command and resolves with its exit status. An error is printed to stderr. The first signal aborts the command,
 * which then has 30 s to shut down.
 */
export async function runCommand(
  command: (signal: AbortSignal, urgent: AbortSignal) => Promise<number>,
  options: CommandOptions = { runsUntilSigterm: false },
): Promise<number> {
  const interruption = listenForInterruption({ twoStage: options.boundsShutdown === true });
  if (options.boundsShutdown !== true) boundShutdown(interruption);
  try {
    return await command(interruption.signal, interruption.urgent);
  } catch (error) {
    if (error instanceof Interrupted) {
      return options.runsUntilSigterm && error.signal === "SIGTERM" ? EXIT.ok : error.exitCode;
    }
    process.stderr.write(`${describeError(error)}\n`);
    if (error instanceof CommandFailure) return error.exitCode;
    return error instanceof UsageError ? EXIT.usage : EXIT.failure;
  } finally {
    await waitForOutput(interruption.signal);
    interruption.dispose();
  }
}

/**
 * Waits until the output is written. The program ends with `process.exit`, which would cut off output that a pipe has not
 * taken yet. After a signal there is no waiting.
 */
async function waitForOutput(signal: AbortSignal): Promise<void> {
  const taken = [process.stdout, process.stderr].map(
    (stream) => new Promise<void>((resolve) => stream.write("", () => resolve())),
  );
  await Promise.race([Promise.all(taken), aborted(signal)]);
}

/** Ends the process by force when the shutdown takes too long. The processes that are killed at exit end with it. */
function boundShutdown({ signal }: Interruption): void {
  signal.addEventListener("abort", () => {
    setTimeout(() => {
      process.stderr.write(`the shutdown took longer than ${SHUTDOWN_MS / 1_000} s: ending by force\n`);
      process.exit(EXIT.failure);
    }, SHUTDOWN_MS).unref();
  });
}

/** The text for people, with every problem on a line of its own. */
function describeError(error: unknown): string {
  if (error instanceof UsageError) return `error: ${error.message}`;
  if (error instanceof CommandFailure) return error.text;
  if (!(error instanceof MillraceError)) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  const known = error.problems.filter(({ message }) => !error.message.includes(message));
  return [`error: ${error.message}`, ...known.map(({ pointer, message }) => `  ${pointer} ${message}`)].join("\n");
}

/** Reads settings. A problem of a setting becomes a {@link UsageError}. */
export function readSettings<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof MillraceError) throw new UsageError(error.message);
    throw error;
  }
}
