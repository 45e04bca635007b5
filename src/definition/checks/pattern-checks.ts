/** Checks of the patterns of a filter, beyond their shape: each must be a glob that something can match. */
import { OPEN } from "../../expressions/template.ts";
import { asMap, textsOf } from "../text/raw.ts";
import type { Path, Source } from "../text/source.ts";
import { refuseExpressions } from "./texts.ts";

/** Reports patterns that cannot match. `value` may have any shape; parts of a wrong shape are skipped. */
export function checkPatterns(source: Source, value: unknown, path: Path, key: keyof typeof PROBLEMS): void {
  refuseExpressions(source, value, path, `\`${key}\``);
  const filter = asMap(value);
  const include = filter === undefined ? textsOf(value, path) : textsOf(filter["include"], [...path, "include"]);
  const exclude = textsOf(filter?.["exclude"], [...path, "exclude"]);
  for (const { text, path: at } of [...include, ...exclude]) {
    if (text.includes(OPEN)) continue;
    const problem = PROBLEMS[key](text);
    if (problem !== undefined) source.report("invalid-pattern", at, ...problem);
  }
  const excluded = new Set(exclude.map(({ text }) => text));
  const isEmpty = excluded.has("**") || (include.length > 0 && include.every(({ text }) => excluded.has(text)));
  if (isEmpty) source.report("invalid-pattern", [...path, "exclude"], "this excludes everything, so nothing can match");
}

type Problem = readonly [message: string, options: { readonly hint?: string }];

function findPathProblem(pattern: string): Problem | undefined {
  if (/^\.?\//.test(pattern)) return ["a path begins at the root of the repository, without `/` or `./`", {}];
  if (pattern.split("/").includes("..")) return ["a path of a repository cannot contain `..`", {}];
  if (pattern.endsWith("/")) {
    const hint = `for all files of a folder, write ${pattern}**`;
    return ["`paths` matches files, and the path of a file does not end with `/`", { hint }];
  }
  return findGlobProblem(pattern);
}

/** Source: git-check-ref-format. */
function findRefProblem(pattern: string): Problem | undefined {
  const prefix = /^refs\/[^/]*\/?/.exec(pattern)?.[0];
  if (prefix !== undefined) return [`give only the name, without \`${prefix}\``, {}];
  const hint = { hint: "patterns are globs such as `release/**`, not regular expressions" };
  const forbidden = /[\s~^:]|\.\.|\/\/|^\/|\/$/.exec(pattern.replaceAll(CLASS, "x"))?.[0];
  if (forbidden !== undefined) return [`the name of a branch or a tag cannot have "${forbidden}" at this place`, hint];
  return findGlobProblem(pattern);
}

function findGlobProblem(pattern: string): Problem | undefined {
  if (pattern.startsWith("!")) return ["a pattern cannot begin with `!`: list it under `exclude` instead", {}];
  const bare = pattern.replaceAll(/\\./gs, "").replaceAll(CLASS, "");
  let open = 0;
  for (const [brace] of bare.matchAll(/[{}]/g)) {
    open += brace === "{" ? 1 : -1;
    if (open < 0) break;
  }
  if (open === 0 && !/[[\]]/.test(bare)) return undefined;
  return ["this pattern has an opening bracket without a closing one, or the reverse", { hint: BRACKET_HINT }];
}

const PROBLEMS = {
  branches: findRefProblem,
  tags: findRefProblem,
  paths: findPathProblem,
  labels: findGlobProblem,
  actors: findGlobProblem,
} as const;

const BRACKET_HINT = "write a backslash before a bracket that belongs to a name";
const CLASS = /\[[!^]?[^[\]]+\]/g;
