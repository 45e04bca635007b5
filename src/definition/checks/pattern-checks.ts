/** What the patterns of a filter must be beyond their shape: globs that something can match. */
import { OPEN } from "../../expressions/template.ts";
import { asMap, textsOf } from "../text/raw.ts";
import type { Path, Source } from "../text/source.ts";
import { refuseExpressions } from "./texts.ts";

/** `value` may be anything; what has a bad shape is passed over. */
export function checkPatterns(source: Source, value: unknown, path: Path, key: "branches" | "tags" | "paths"): void {
  refuseExpressions(source, value, path, `\`${key}\``);
  const filter = asMap(value);
  const include = filter === undefined ? textsOf(value, path) : textsOf(filter["include"], [...path, "include"]);
  const exclude = textsOf(filter?.["exclude"], [...path, "exclude"]);
  for (const { text, path: at } of [...include, ...exclude]) {
    if (text.includes(OPEN)) continue;
    const problem = key === "paths" ? findPathProblem(text) : findRefProblem(text);
    if (problem !== undefined) source.report("invalid-pattern", at, ...problem);
  }
  const excluded = new Set(exclude.map(({ text }) => text));
  const isEmpty = excluded.has("**") || (include.length > 0 && include.every(({ text }) => excluded.has(text)));
  if (isEmpty) source.report("invalid-pattern", [...path, "exclude"], "this leaves nothing that could match");
}

type Problem = readonly [message: string, options: { readonly hint?: string }];

function findPathProblem(pattern: string): Problem | undefined {
  if (/^\.?\//.test(pattern)) return ["paths begin at the root of the repository, without `/`", {}];
  if (pattern.split("/").includes("..")) return ["no path of a repository has `..` in it", {}];
  if (pattern.endsWith("/")) {
    return ["this matches files, and their paths do not end with `/`", { hint: `for a whole folder: ${pattern}**` }];
  }
  return findGlobProblem(pattern);
}

/** Source: git-check-ref-format. */
function findRefProblem(pattern: string): Problem | undefined {
  const prefix = /^refs\/[^/]*\/?/.exec(pattern)?.[0];
  if (prefix !== undefined) return [`give the name alone, without \`${prefix}\``, {}];
  const hint = { hint: "patterns are globs, not regular expressions: `release/**`" };
  const forbidden = /[\s~^:]|\.\.|\/\/|^\/|\/$/.exec(pattern.replaceAll(CLASS, "x"))?.[0];
  if (forbidden !== undefined) return [`no branch or tag of Git has "${forbidden}" at this place of its name`, hint];
  return findGlobProblem(pattern);
}

function findGlobProblem(pattern: string): Problem | undefined {
  if (pattern.startsWith("!")) return ["write what to leave out under `exclude`", {}];
  const bare = pattern.replaceAll(/\\./gs, "").replaceAll(CLASS, "");
  let open = 0;
  for (const [brace] of bare.matchAll(/[{}]/g)) {
    open += brace === "{" ? 1 : -1;
    if (open < 0) break;
  }
  if (open === 0 && !/[[\]]/.test(bare)) return undefined;
  return ["a bracket of this pattern has no other end", { hint: "a backslash before a bracket takes it as it stands" }];
}

const CLASS = /\[[!^]?[^[\]]+\]/g;
