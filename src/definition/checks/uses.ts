/** Checks of `uses`, `action` and the arguments of builtins. */
import type { z } from "zod";
import { type Builtin, builtinOf } from "../../domain/builtins.ts";
import { isInnerPattern } from "../../domain/caches.ts";
import { reservedPart, splitReference } from "../../domain/plugins.ts";
import { didYouMean } from "../../expressions/nearest.ts";
import { checkCheckout, checkHttp, checkUpload } from "./builtin-checks.ts";
import { asMap, type Located, type Raw } from "../text/raw.ts";
import { clip } from "../text/read-text.ts";
import { artifactArgs, cacheArgs, checkoutArgs, httpArgs, shellArgs, uploadArgs } from "../schema/builtins.ts";
import { reportIssues } from "./shape.ts";
import type { Path, Source } from "../text/source.ts";
import { meantKey } from "./unknown-keys.ts";

type ArgsSchema = z.ZodObject;

/** The builtins by name, with the schemas of their arguments. */
export const BUILTIN_ARGS: ReadonlyMap<string, ArgsSchema> = new Map<string, ArgsSchema>(
  Object.entries({
    shell: shellArgs,
    checkout: checkoutArgs,
    artifact: artifactArgs,
    upload: uploadArgs,
    cache: cacheArgs,
    http: httpArgs,
  } satisfies Record<Builtin, ArgsSchema>),
);
/** The form of a reference to a plugin: `<plugin_path>@<version>`. */
export const PLUGIN = /^[\w.-]+(?:\/[\w.-]+)*@[\w.-]+$/;

/** Checks the `uses`, `action` and `args` of a step. */
export function checkUses(source: Source, { value: step, path }: Located): void {
  const { uses, action } = step;
  if (typeof uses !== "string" || uses === "") return;
  const builtin = builtinOf(uses);
  if (builtin !== undefined) {
    if (typeof action === "string" && action !== "") {
      source.report("invalid-args", [...path, "action"], `\`${builtin}\` has no actions`);
    }
    if (step["args"] !== undefined || !hasMisplacedArgs(step, path)) checkArgs(source, builtin, step, path);
  } else if (PLUGIN.test(uses) && reservedOf(uses) !== undefined) {
    const message = `"${clip(uses)}" names no plugin: "${clip(reservedOf(uses)!)}" is reserved`;
    source.report("invalid-uses", [...path, "uses"], message);
  } else if (!PLUGIN.test(uses)) {
    const name = uses.replace(/@.*$/, "");
    const isBuiltin = BUILTIN_ARGS.has(name);
    const near = isBuiltin ? "" : didYouMean(name, [...BUILTIN_ARGS.keys()]);
    source.report("invalid-uses", [...path, "uses"], `"${clip(uses)}" is neither a builtin nor a plugin${near}`, {
      hint: `builtins: ${[...BUILTIN_ARGS.keys()].join(", ")}; plugins: <plugin_path>@<version>`,
    });
  } else if (BUILTIN_ARGS.has(uses.replace(/@.*$/, ""))) {
    const message = `there is no ${clip(uses)}: the version of all builtins is @v1`;
    source.report("invalid-uses", [...path, "uses"], message);
  }
}

function reservedOf(uses: string): string | undefined {
  const { name, version } = splitReference(uses);
  return reservedPart(name) ?? reservedPart(version);
}

/** Whether the step has a misspelt `args` or `uses`: that is reported as an unknown key, and missing arguments are not reported. */
function hasMisplacedArgs(step: Raw, path: Path): boolean {
  const isMeant = (key: string): boolean => ["args", "uses"].includes(meantKey(path, key) ?? "");
  return Object.keys(step).some((key) => key !== "uses" && isMeant(key));
}

function checkArgs(source: Source, builtin: string, step: Raw, path: Path): void {
  const given = step["args"] ?? {};
  const args = asMap(given);
  if (args === undefined) return;
  const at = [...path, "args"];
  const { error } = BUILTIN_ARGS.get(builtin)!.safeParse(given, { reportInput: true });
  for (const issue of error?.issues ?? []) {
    if (issue.code !== "unrecognized_keys") reportIssues(source, [issue], at, "invalid-args");
    else for (const key of issue.keys) reportUnknownArgument(source, builtin, [...at, key], key);
  }
  const hasUnknown = error?.issues.some(({ code }) => code === "unrecognized_keys") ?? false;
  if (builtin === "shell") checkShell(source, args, path, hasUnknown);
  if (builtin === "checkout") checkCheckout(source, args, at);
  if (builtin === "http") checkHttp(source, args, at);
  if (builtin === "upload") checkUpload(source, args, at);
  if (builtin === "cache") checkCachePaths(source, args["paths"], [...at, "paths"]);
}

/** Reports paths outside of the workspace; a path with expressions is checked when the step runs. */
function checkCachePaths(source: Source, paths: unknown, at: Path): void {
  if (!Array.isArray(paths)) return;
  for (const [index, path] of paths.entries()) {
    if (typeof path !== "string" || path.includes("${{") || isInnerPattern(path)) continue;
    source.report("invalid-args", [...at, index], `"${clip(path)}" is not within the workspace`);
  }
}

function reportUnknownArgument(source: Source, builtin: string, path: Path, key: string): void {
  const keys = Object.keys(BUILTIN_ARGS.get(builtin)!.shape);
  source.report("invalid-args", path, `\`${builtin}\` has no argument "${clip(key)}"${didYouMean(key, keys)}`, {
    spot: "key",
    hint: `its arguments: ${keys.join(", ")}`,
  });
}

function checkShell(source: Source, { script, shell, command, args }: Raw, path: Path, hasUnknown: boolean): void {
  const invalid = (key: string, message: string): void =>
    source.report("invalid-args", [...path, "args", key], message);
  if (script === undefined && command === undefined && !hasUnknown) {
    source.report("invalid-args", path, "`shell` needs `args.script`, or `args.command` with `args.args`", {
      spot: "key",
    });
  }
  if (script !== undefined && command !== undefined) invalid("command", "give either `script` or `command`, not both");
  if (shell !== undefined && script === undefined) invalid("shell", "`shell` is allowed only with `script`");
  if (args !== undefined && command === undefined) invalid("args", "`args` is allowed only with `command`");
}
