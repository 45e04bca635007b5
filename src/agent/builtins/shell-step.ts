/** The builtin `shell`: it checks the arguments of a step and prepares the command that runs. */
import { randomUUID } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MillraceError } from "../../domain/errors.ts";
import { giveTo, type Owner } from "../process/step-user.ts";

const DEFAULT_SHELL = "sh -e";

type Command = [program: string, ...args: string[]];

/** A command that is ready to run. */
export interface PreparedCommand {
  readonly command: Command;
  /** Replaces the working directory of the step. */
  readonly cwd?: string;
  /** Replaces the environment of the step. */
  readonly env?: Readonly<Record<string, string>>;
  /** The path of the file for its standard input; absent for an empty one. */
  readonly stdin?: string;
  /** The meaning of an exit code, as text for users; undefined when it is not known. */
  explain?(exitCode: number): string | undefined;
  /** Removes temporary files. Call it after the command has ended. */
  dispose(): void;
}

/**
 * Prepares the command of a step. The arguments have either `script`, a text for `shell` (default `sh -e`; a program
 * and its flags, separated by spaces), or `command` with `args`, which run without a shell. The script is written
 * unchanged to a file in `scratchDir`, which the shell reads. Throws `malformed_request` for other arguments, and
 * `not_implemented` for another `uses`.
 */
export function prepareCommand(
  step: { readonly uses: string; readonly action: string; readonly argsJson: string },
  scratchDir: string,
  user?: Owner,
): PreparedCommand {
  if (!/^shell(?:@v1)?$/.test(step.uses)) {
    throw new MillraceError(
      "not_implemented",
      `this agent cannot run steps that use "${step.uses}"; it knows "shell", "checkout", "artifact", "cache" and "http"`,
    );
  }
  if (step.action !== "") throw new MillraceError("malformed_request", `shell has no action "${step.action}"`);
  const args = parseArgs(step.argsJson);
  if (args.script === undefined) return { command: args.command, dispose: () => {} };

  const file = join(scratchDir, `script-${randomUUID()}`);
  writeFileSync(file, args.script, { mode: 0o600, flag: "wx" });
  giveTo(user, file);
  return {
    command: [...args.shell, file],
    dispose: () => rmSync(file, { force: true }),
  };
}

type ShellArgs =
  | { readonly script: string; readonly shell: Command }
  | { readonly script?: never; readonly command: Command };

function parseArgs(json: string): ShellArgs {
  const { script, shell = DEFAULT_SHELL, command, args = [], ...others } = parseArguments(json);
  const unknown = Object.keys(others)[0];
  if (unknown !== undefined) throw wrong(`does not know "${unknown}"`);
  if ((script === undefined) === (command === undefined)) throw wrong("takes either a script or a command");
  if (script !== undefined) {
    if (typeof script !== "string") throw wrong("takes a text as script");
    const words = typeof shell === "string" ? shell.split(" ") : [];
    const [program, ...flags] = words.filter((word) => word !== "");
    if (program === undefined) throw wrong('takes a program and its flags as shell, such as "bash -e"');
    return { script, shell: [program, ...flags] };
  }
  if (typeof command !== "string" || command === "") throw wrong("takes the name of a program as command");
  if (!Array.isArray(args) || args.some((arg) => typeof arg === "object")) throw wrong("takes a list of texts as args");
  return { command: [command, ...args.map(String)] };
}

/** Parses the arguments of a step. Throws `malformed_request` if they are not a JSON object. */
export function parseArguments(json: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json === "" ? "{}" : json);
  } catch (error) {
    throw new MillraceError("malformed_request", "the step's arguments are not JSON", { cause: error });
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new MillraceError("malformed_request", "the step's arguments have no names");
  }
  return value as Record<string, unknown>;
}

function wrong(what: string): MillraceError {
  return new MillraceError("malformed_request", `shell ${what}`);
}
