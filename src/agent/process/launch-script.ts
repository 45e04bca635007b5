/** The shell text with which a waiting supervisor becomes the process of a step. */
import { MillraceError } from "../../domain/errors.ts";
import type { Launch } from "./launch-protocol.ts";

/** The longest argument or `NAME=value` that Linux takes (MAX_ARG_STRLEN), bytes with the zero byte at its end. */
const LONGEST_TEXT_BYTES = 128 * 1024;

/**
 * Variables that a shell sets, guards or acts upon itself. They are given to the process by `env`, past the shell: bash
 * ends when UID is assigned, and dash when OPTIND is no number.
 */
const OF_THE_SHELL =
  /^(?:_|BASH.*|CDPATH|COMP_.*|DIRSTACK|ENV|EPOCH.*|EUID|FUNCNAME|GROUPS|HIST.*|IFS|LINENO|MAIL.*|OLDPWD|OPT.*|PIPESTATUS|POSIXLY_CORRECT|PPID|PS\d|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|TMOUT|UID)$/;

/**
 * Rejects what no process can be given, before anything is started: `malformed_request` for zero bytes, and for a text
 * that the system would refuse as too long.
 */
export function checkLaunch({ command, env }: Pick<Launch, "command" | "env">): void {
  for (const [index, text] of command.entries()) checkText(text, `argument ${index}`);
  for (const [name, value] of Object.entries(env)) checkText(`${name}=${value}`, `environment variable "${name}"`);
}

/** Names what is wrong by its place: its text may be a secret. */
function checkText(text: string, what: string): void {
  if (text.includes("\0")) throw new MillraceError("malformed_request", `null bytes cannot be part of ${what}`);
  if (process.platform !== "linux" || Buffer.byteLength(text) < LONGEST_TEXT_BYTES) return;
  throw new MillraceError(
    "malformed_request",
    `E2BIG: the ${what} is longer than the ${LONGEST_TEXT_BYTES - 1} bytes that the system takes: put it into a file`,
  );
}

/**
 * One line of shell: the whole of it is read before any of it runs, so that its standard input, from which the shell
 * reads it, can be replaced. The supervisor carries the mark of the lease, so the guard finds it wherever it is in this.
 */
export function launchScript({ command, cwd, env, stdin = "/dev/null", stdout, stderr, permitFile }: Launch): string {
  const variables = Object.entries(env);
  const exported = variables.filter(([name]) => !OF_THE_SHELL.test(name)).map(assignment);
  const given = variables.filter(([name]) => OF_THE_SHELL.test(name)).map(assignment);
  const program = [...(given.length > 0 ? ["/usr/bin/env", ...given] : []), ...command.map(quote)];
  return [
    ...(exported.length > 0 ? [`export ${exported.join(" ")}`] : []),
    `cd ${quote(cwd)} || exit`,
    "unset OLDPWD",
    `exec <${quote(stdin)} >${quote(stdout)} 2>${quote(stderr)}`,
    `[ -e ${quote(permitFile)} ] || exit`,
    `exec ${program.join(" ")}\n`,
  ].join("; ");
}

function assignment([name, value]: [string, string]): string {
  return `${name}=${quote(value)}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
