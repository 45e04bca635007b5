/** What every command works with, so that one can be run whole in a test or as the program. */
import { MillraceError } from "../domain/errors.ts";
import { EXIT } from "./exit-codes.ts";
import { aborted, Interrupted, type Interruption, listenForInterruption } from "./interruption.ts";

const ENDING_MS = 30_000;

/** Raised by a command whose value on the command line or in the environment is wrong. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** How a command is ended. */
interface CommandEnding {
  /** Being ended by SIGTERM is what the command is for, no failure. */
  readonly asked: boolean;
  /** The command bounds its ending itself, and a second signal does not end the process but aborts `urgent`. */
  readonly endsInTime?: true;
}

/**
 * Runs a command until it answers its exit status; an error is printed to stderr. Signals abort the command, which
 * then has 30 s to end what it started.
 */
export async function runCommand(
  command: (signal: AbortSignal, urgent: AbortSignal) => Promise<number>,
  options: CommandEnding = { asked: false },
): Promise<number> {
  const interruption = listenForInterruption({ patient: options.endsInTime === true });
  if (options.endsInTime !== true) boundEnding(interruption);
  try {
    return await command(interruption.signal, interruption.urgent);
  } catch (error) {
    if (error instanceof Interrupted) {
      return options.asked && error.signal === "SIGTERM" ? EXIT.ok : error.exitCode;
    }
    process.stderr.write(`${describeError(error)}\n`);
    return error instanceof UsageError ? EXIT.usage : EXIT.failure;
  } finally {
    await outputTaken(interruption.signal);
    interruption.dispose();
  }
}

/** The program ends by force, which would cut off what a pipe has not taken yet; nobody waits for it after a signal. */
async function outputTaken(signal: AbortSignal): Promise<void> {
  const taken = [process.stdout, process.stderr].map(
    (stream) => new Promise<void>((resolve) => stream.write("", () => resolve())),
  );
  await Promise.race([Promise.all(taken), aborted(signal)]);
}

/** A command that hangs in its ending is ended by force, and with it whatever is killed at exit. */
function boundEnding({ signal }: Interruption): void {
  signal.addEventListener("abort", () => {
    setTimeout(() => {
      process.stderr.write(`not everything ended within ${ENDING_MS / 1_000} s: giving up\n`);
      process.exit(EXIT.failure);
    }, ENDING_MS).unref();
  });
}

/** The text for people, with every problem on a line of its own. */
function describeError(error: unknown): string {
  if (error instanceof UsageError) return `error: ${error.message}`;
  if (!(error instanceof MillraceError)) return error instanceof Error ? (error.stack ?? error.message) : String(error);
  const known = error.problems.filter(({ message }) => !error.message.includes(message));
  return [`error: ${error.message}`, ...known.map(({ pointer, message }) => `  ${pointer} ${message}`)].join("\n");
}

/** Reads settings; a problem of theirs is one of usage. */
export function readSettings<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof MillraceError) throw new UsageError(error.message);
    throw error;
  }
}
