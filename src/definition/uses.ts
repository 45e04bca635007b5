/** What `uses` may name, and the arguments of the builtins. */
import { didYouMean } from "../expressions/nearest.ts";
import { clip } from "./read-text.ts";
import type { Path, Source } from "./source.ts";

/** Builtins of the language; those that run today. */
const BUILTINS = ["shell", "checkout", "artifact", "http"] as const;
const SUPPORTED: readonly string[] = ["shell"];
const PLUGIN = /^[\w.-]+(?:\/[\w.-]+)*@[\w.-]+$/;
const SHELL_KEYS = ["script", "shell", "command", "args"];

/** The builtin that `uses` names (`shell` or `shell@v1`), or undefined. */
export function builtinOf(uses: string): string | undefined {
  const name = uses.endsWith("@v1") ? uses.slice(0, -3) : uses;
  return (BUILTINS as readonly string[]).includes(name) ? name : undefined;
}

/** Checks the `uses`, `action` and `args` of the step at `path`. */
export function checkUses(source: Source, path: Path, step: Readonly<Record<string, unknown>>): void {
  const uses = step["uses"];
  if (typeof uses !== "string" || uses === "") return;
  const builtin = builtinOf(uses);
  const at = [...path, "uses"];
  if (builtin === "shell") return checkShell(source, path, step);
  if (builtin !== undefined) {
    source.report("not-supported-yet", at, `the builtin \`${builtin}\` is not supported yet`, {
      hint: `supported now: ${SUPPORTED.join(", ")}`,
    });
  } else if (PLUGIN.test(uses)) {
    source.report("not-supported-yet", at, `plugins are not supported yet: ${clip(uses)}`, {
      hint: `supported now: ${SUPPORTED.join(", ")}`,
    });
  } else {
    source.report(
      "invalid-uses",
      at,
      `"${clip(uses)}" is neither a builtin nor <plugin_path>@<version>${didYouMean(uses, BUILTINS)}`,
    );
  }
}

function checkShell(source: Source, path: Path, step: Readonly<Record<string, unknown>>): void {
  const { action, args = {} } = step;
  const at = [...path, "args"];
  if (typeof action === "string" && action !== "") {
    source.report("invalid-args", [...path, "action"], "`shell` has no actions");
  }
  if (typeof args !== "object" || args === null || Array.isArray(args)) return;
  const given = args as Readonly<Record<string, unknown>>;
  const invalid = (key: string, message: string): void => source.report("invalid-args", [...at, key], message);
  for (const key of Object.keys(given)) {
    if (SHELL_KEYS.includes(key)) continue;
    source.report(
      "invalid-args",
      [...at, key],
      `\`shell\` has no argument "${clip(key)}"${didYouMean(key, SHELL_KEYS)}`,
      {
        spot: "key",
      },
    );
  }
  const { script, shell, command, args: words } = given;
  if (script === undefined && command === undefined) {
    source.report("invalid-args", path, "`shell` needs `args.script`, or `args.command` with `args.args`", {
      spot: "key",
    });
  }
  if (script !== undefined && command !== undefined) invalid("command", "give either `script` or `command`, not both");
  if (script !== undefined && typeof script !== "string") invalid("script", "`script` must be a string");
  if (shell !== undefined && (typeof shell !== "string" || shell.trim() === ""))
    invalid("shell", "`shell` must be a string such as `sh -e`");
  if (shell !== undefined && script === undefined) invalid("shell", "`shell` goes with `script` alone");
  if (command !== undefined && (typeof command !== "string" || command === ""))
    invalid("command", "`command` must be the name of a program");
  if (words !== undefined && command === undefined) invalid("args", "`args` goes with `command` alone");
  if (words !== undefined && !(Array.isArray(words) && words.every((word) => typeof word === "string"))) {
    invalid("args", "`args` must be a list of strings");
  }
}
