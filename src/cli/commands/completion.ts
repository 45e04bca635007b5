/** `millrace completion`: scripts that complete commands and options in a shell. They are made from the program's own commands. */
import type { Command } from "commander";
import { UsageError } from "../command-line.ts";
import { EXIT } from "../exit-codes.ts";

/** A command as it is typed, for example `pipelines create`, and the words that may follow it. */
interface Place {
  readonly path: string;
  readonly words: readonly { readonly word: string; readonly about: string }[];
}

const SCRIPTS: Readonly<Record<string, (places: readonly Place[]) => string>> = { bash, zsh, fish };

export function printCompletion(program: Command, shell: string): Promise<number> {
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (script === undefined) throw new UsageError(`${shell}: must be one of ${Object.keys(SCRIPTS).join(", ")}`);
  process.stdout.write(script(placesOf(program, "")));
  return Promise.resolve(EXIT.ok);
}

function placesOf(command: Command, path: string): readonly Place[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const options = help.visibleOptions(command);
  const words = [
    ...commands.map((child) => ({ word: child.name(), about: child.summary() || child.description() })),
    ...options.flatMap(({ long, description }) => (long == null ? [] : [{ word: long, about: description }])),
  ];
  // commander's own command `help` has no commands.
  const below = commands.filter((child) => child.name() !== "help");
  return [{ path, words }, ...below.flatMap((child) => placesOf(child, `${path} ${child.name()}`.trim()))];
}

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const listOf = ({ words }: Place) => words.map(({ word }) => word).join(" ");
const named = (places: readonly Place[]) => places.filter(({ path }) => path !== "");

function bash(places: readonly Place[]): string {
  return `# millrace completion for bash: source <(millrace completion bash)
_millrace() {
  local path='' word next i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    next=\${path:+$path }$word
    case $next in
${named(places)
  .map(({ path }) => `      ${quoted(path)}) path=$next ;;`)
  .join("\n")}
    esac
  done
  case $path in
${places.map((place) => `    ${quoted(place.path)}) word=${quoted(listOf(place))} ;;`).join("\n")}
  esac
  COMPREPLY=($(compgen -W "$word" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _millrace millrace
`;
}

function zsh(places: readonly Place[]): string {
  return `#compdef millrace
# millrace completion for zsh: source <(millrace completion zsh)
_millrace() {
  local at='' word next
  for word in "\${(@)words[2,CURRENT-1]}"; do
    next=\${at:+$at }$word
    case $next in
${named(places)
  .map(({ path }) => `      ${quoted(path)}) at=$next ;;`)
  .join("\n")}
    esac
  done
  local -a found
  case $at in
${places
  .map((place) => {
    const entries = place.words.map(({ word, about }) => quoted(`${word}:${about.replaceAll(":", "\\:")}`));
    return `    ${quoted(place.path)}) found=(${entries.join(" ")}) ;;`;
  })
  .join("\n")}
  esac
  _describe millrace found || _files
}
compdef _millrace millrace
`;
}

function fish(places: readonly Place[]): string {
  return `# millrace completion for fish: millrace completion fish | source
function __millrace_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    set -l next (string trim -- "$at $word")
    switch $next
      case ${named(places)
        .map(({ path }) => quoted(path))
        .join(" ")}
        set at $next
    end
  end
  test "$at" = "$argv[1]"
end
${places
  .flatMap(({ path, words }) =>
    words.map(({ word, about }) => {
      const what = word.startsWith("--") ? `-l ${word.slice(2)}` : `-f -a ${fishQuoted(word)}`;
      const condition = fishQuoted(`__millrace_at ${fishQuoted(path)}`);
      return `complete -c millrace -n ${condition} ${what} -d ${fishQuoted(about)}`;
    }),
  )
  .join("\n")}
`;
}

/** Fish has escapes inside single quotes. */
function fishQuoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", String.raw`\'`)}'`;
}
