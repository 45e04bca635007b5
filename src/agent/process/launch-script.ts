/** The shell text by which a waiting supervisor becomes the process of a step. */
import { MillraceError } from "../../domain/errors.ts";
import type { Launch, LaunchObstacle } from "./launch-protocol.ts";

/** Exit code of a supervisor that has told an obstacle. A program may exit with it as well. */
const OBSTACLE_EXIT = 125;

/** Size limit of Linux for one argument or `NAME=value` (MAX_ARG_STRLEN), in bytes, with the zero byte at its end. */
const LONGEST_TEXT_BYTES = 128 * 1024;

/**
 * Variables that a shell sets, protects or interprets itself. The program `env` passes them to the process, so that the
 * shell does not assign them: bash exits when UID is assigned, and dash when OPTIND is not a number.
 */
const OF_THE_SHELL =
  /^(?:_|BASH.*|CDPATH|COMP_.*|DIRSTACK|ENV|EPOCH.*|EUID|FUNCNAME|GROUPS|HIST.*|IFS|LINENO|MAIL.*|OLDPWD|OPT.*|PIPESTATUS|POSIXLY_CORRECT|PPID|PS\d|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|TMOUT|UID)$/;

/**
 * Checks arguments and variables before a process is started. Throws `malformed_request` for zero bytes, and for a text
 * that is too long for the system.
 */
export function checkLaunch({ command, env }: Pick<Launch, "command" | "env">): void {
  for (const [index, text] of command.entries()) checkText(text, `argument ${index}`);
  for (const [name, value] of Object.entries(env)) checkText(`${name}=${value}`, `environment variable "${name}"`);
}

/** The error names only the place of the text, since the text may be a secret. */
function checkText(text: string, what: string): void {
  if (text.includes("\0")) throw new MillraceError("malformed_request", `null bytes cannot be part of ${what}`);
  if (process.platform !== "linux" || Buffer.byteLength(text) < LONGEST_TEXT_BYTES) return;
  throw new MillraceError(
    "malformed_request",
    `E2BIG: the ${what} is longer than the ${LONGEST_TEXT_BYTES - 1} bytes that the system takes: put it into a file`,
  );
}

/**
 * One line of shell text. The shell reads its commands from its standard input, and it reads a line completely before
 * it runs any of it. So the line can replace the standard input of the shell. The supervisor already carries the mark
 * of the lease, so the guard finds it at every moment while it runs this line. Descriptor 3 is the lifeline, on which
 * the line tells what is missing, or that the program begins; the program does not inherit it.
 */
export function launchScript({ command, cwd, env, stdin = "/dev/null", stdout, stderr, permitFile }: Launch): string {
  const { exported, given } = variablesFor(env);
  const program = [...(given.length > 0 ? ["/usr/bin/env", ...given] : []), ...command.map(quote)];
  return [
    ...(exported.length > 0 ? [`export ${exported.join(" ")}`] : []),
    `cd ${quote(cwd)} || ${tell("folder")}`,
    "unset OLDPWD",
    `exec <${quote(stdin)} >${quote(stdout)} 2>${quote(stderr)}`,
    `[ -e ${quote(permitFile)} ] || ${tell("permit")}`,
    "echo begun >&3",
    `exec ${program.join(" ")} 3<&-\n`,
  ].join("; ");
}

/** Assignments as shell text: those that the shell exports, and those that it must not make and `env` makes. */
export function variablesFor(env: Readonly<Record<string, string>>): { exported: string[]; given: string[] } {
  const variables = Object.entries(env);
  return {
    exported: variables.filter(([name]) => !OF_THE_SHELL.test(name)).map(assignment),
    given: variables.filter(([name]) => OF_THE_SHELL.test(name)).map(assignment),
  };
}

function tell(obstacle: LaunchObstacle): string {
  return `{ echo ${obstacle} >&3; exit ${OBSTACLE_EXIT}; }`;
}

function assignment([name, value]: [string, string]): string {
  return `${name}=${quote(value)}`;
}

/** A text as one word of a shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
