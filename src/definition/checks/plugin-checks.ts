/** Checks of the steps that use plugins: version, action and arguments, against what the registry knows of each plugin. */
import { type ArgsPath, actionOf, type FoundPlugin, type PluginLookup, splitReference } from "../../domain/plugins.ts";
import { didYouMean } from "../../expressions/nearest.ts";
import { OPEN } from "../../expressions/template.ts";
import type { DiagnosticCode } from "../text/diagnostics.ts";
import { asMap, type Located, mapsOf } from "../text/raw.ts";
import { clip } from "../text/read-text.ts";
import type { Path, Source } from "../text/source.ts";
import { builtinOf } from "../../domain/builtins.ts";
import { PLUGIN } from "./uses.ts";

/** How many names or versions a hint lists. */
const MAX_LISTED = 10;

export interface PluginProblem {
  readonly code: DiagnosticCode;
  readonly severity: "error" | "warning";
  /** Relative to the step. */
  readonly path: Path;
  readonly message: string;
  readonly hint?: string;
}

interface PluginStep {
  readonly uses: string;
  /** Empty for the plugin's default action. */
  readonly action: string;
  readonly args: unknown;
}

/** True for a well-formed reference to a plugin; false for a builtin. */
export function isPlugin(uses: string): boolean {
  return builtinOf(uses) === undefined && PLUGIN.test(uses);
}

/** The plugins that the steps of a definition use, each once; the definition may have errors. */
export function pluginsIn(source: Source): readonly string[] {
  const uses = stepsIn(source).map(({ value }) => value["uses"]);
  return [...new Set(uses.filter((use): use is string => typeof use === "string" && isPlugin(use)))];
}

/** Reports what is wrong with steps that use plugins; arguments with expressions are not checked, since the run gives their values. */
export function checkPlugins(source: Source, lookup: PluginLookup): void {
  for (const { value, path } of stepsIn(source)) {
    const { uses, action = "", args = {} } = value;
    // Other checks report a wrong shape, and an expression where none is evaluated.
    if (typeof uses !== "string" || !isPlugin(uses) || typeof action !== "string" || action.includes(OPEN)) continue;
    if (asMap(args) === undefined) continue;
    const isDeferred = (at: ArgsPath): boolean => {
      const found = valueAt(args, at);
      return typeof found === "string" && found.includes(OPEN);
    };
    for (const problem of findPluginProblems({ uses, action, args }, lookup(uses), isDeferred)) {
      const { code, severity, message, hint } = problem;
      source.report(code, [...path, ...problem.path], message, { severity, ...(hint === undefined ? {} : { hint }) });
    }
  }
}

/** What is wrong with a step; `isDeferred` is true for a place in its arguments whose value is known only during the run. */
export function findPluginProblems(
  { uses, action, args }: PluginStep,
  plugin: FoundPlugin,
  isDeferred: (path: ArgsPath) => boolean,
): readonly PluginProblem[] {
  const { name, version } = splitReference(uses);
  if (plugin.found === "nothing") {
    const message = `the registry has no plugin "${clip(name)}"${didYouMean(name, plugin.names)}`;
    const hint = "the step runs only on an agent that has this plugin in its own plugin folder";
    return [{ code: "unknown-plugin", severity: "warning", path: ["uses"], message, hint }];
  }
  if (plugin.found === "otherVersions") {
    const message = `the plugin "${name}" has no version ${clip(version)}`;
    const hint = `its versions: ${listSome(plugin.versions)}`;
    return [{ code: "unknown-plugin-version", severity: "error", path: ["uses"], message, hint }];
  }
  const { manifest } = plugin.release;
  const chosen = actionOf(manifest, action);
  if (chosen === undefined) {
    const names = Object.keys(manifest.actions);
    const message =
      action === ""
        ? `"${uses}" has several actions and no default: name one with \`action\``
        : `"${uses}" has no action "${clip(action)}"${didYouMean(action, names)}`;
    const hint = `its actions: ${listSome(names)}`;
    return [{ code: "unknown-action", severity: "error", path: [action === "" ? "uses" : "action"], message, hint }];
  }
  return plugin.checkArgs(chosen[1], args, isDeferred).map(({ path, message }) => ({
    code: "invalid-args",
    severity: "error",
    path: ["args", ...path],
    message: `${path.length === 0 ? "`args`" : `\`${clip(path.join("."))}\``} ${message}`,
    hint: `the schema of the action "${chosen[0]}" of ${manifest.name}@${manifest.version} requires this`,
  }));
}

function stepsIn(source: Source): readonly Located[] {
  const root = asMap(source.value) ?? {};
  const stages = Object.hasOwn(root, "stages") ? mapsOf(root["stages"], ["stages"]) : [{ value: root, path: [] }];
  const jobs = stages.flatMap(({ value, path }) => mapsOf(value["jobs"], [...path, "jobs"]));
  return jobs.flatMap(({ value, path }) => mapsOf(value["steps"], [...path, "steps"]));
}

function valueAt(value: unknown, path: ArgsPath): unknown {
  let found = value;
  for (const part of path) found = (found as Readonly<Record<string, unknown>>)[part];
  return found;
}

function listSome(names: readonly string[]): string {
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return `${names.slice(0, MAX_LISTED).join(", ")}${more}`;
}
