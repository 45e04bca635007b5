/** What the commands that call a server have in common: how each is declared, and options that several of them take. */
import { type Command, InvalidArgumentError, Option } from "commander";
import { runCommand } from "../command-line.ts";

export type SetStatus = (status: number) => void;

interface RemoteCommand {
  readonly args?: readonly (readonly [name: string, about: string])[];
  readonly options?: readonly Option[];
  // oxlint-disable-next-line typescript/no-explicit-any -- commander cannot know the types of options
  readonly run: (signal: AbortSignal, options: any, ...args: readonly (string | undefined)[]) => Promise<number>;
}

/** Adds what every command that calls a server has. */
export function remote(
  command: Command,
  about: string,
  setStatus: SetStatus,
  { args = [], options = [], run }: RemoteCommand,
): Command {
  command.description(about);
  for (const [name, text] of args) command.argument(name, text);
  for (const option of options) command.addOption(option);
  return command
    .option("--context <name>", "the server that `millrace login` gave this name; default: the current context")
    .option("--json", "print JSON, also for errors")
    .action(async (...given: unknown[]) => {
      const texts = given.slice(0, args.length) as (string | undefined)[];
      // A group and its commands may have the same options, and the group takes those that stand before the command.
      const all = command.optsWithGlobals();
      setStatus(await runCommand((signal) => run(signal, all, ...texts)));
    });
}

export const project = () => new Option("--project <project>", "name or id of the project");
export const ROLES = ["owner", "admin", "maintainer", "operator", "viewer"] as const;
/** An option that may be repeated. */
export const listed = (flags: string, about: string) => new Option(flags, about).argParser(collect).default([]);
export const limit = () => count("--limit <n>", "at most so many").default(50);
export const count = (flags: string, about: string) => new Option(flags, about).argParser(parseCount);

function parseCount(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 1 on.");
  return Number(text);
}

export function collect(value: string, values: readonly string[] | undefined): readonly string[] {
  return [...(values ?? []), value];
}

/** Reads a value of a repeated option, which must be one of the choices. */
export function someOf(choices: readonly string[]) {
  return (value: string, values: readonly string[] | undefined): readonly string[] => {
    if (!choices.includes(value)) throw new InvalidArgumentError(`Allowed choices are ${choices.join(", ")}.`);
    return collect(value, values);
  };
}
