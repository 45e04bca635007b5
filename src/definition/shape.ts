/** What the schema finds, as diagnostics with positions and the nearest key. */
import type { z } from "zod";
import { DIAGNOSTIC_CODES, type DiagnosticCode } from "./diagnostics.ts";
import { didYouMean } from "../expressions/nearest.ts";
import { clip } from "./read-text.ts";
import { PLACES } from "./schema.ts";
import type { Path, Source } from "./source.ts";

type Issue = z.core.$ZodIssue;

/** Reports every issue. Positions are those of keys for keys, of values for values. */
export function reportIssues(source: Source, issues: readonly Issue[], prefix: Path = []): void {
  for (const issue of issues) reportIssue(source, issue, [...prefix, ...issue.path]);
}

function reportIssue(source: Source, issue: Issue, path: Path): void {
  switch (issue.code) {
    case "unrecognized_keys":
      for (const key of issue.keys) reportKey(source, path, key);
      return;
    case "invalid_union": {
      // The branch that got furthest says most; the words for all speak where none did.
      const [best] = issue.errors.toSorted((a, b) => deepest(b) - deepest(a));
      if (best !== undefined && deepest(best) > 0) reportIssues(source, best, path);
      else source.report("invalid-type", path, `${nameOf(path)} ${unionMessage(issue)}`);
      return;
    }
    case "invalid_type":
      // A text has no undefined values: only a key that is not there reads as one.
      if (issue.input === undefined) {
        source.report("missing-key", path.slice(0, -1), `${nameOf(path)} is required here`, { spot: "key" });
      } else reportType(source, path, issue.expected, issue.input);
      return;
    case "invalid_key":
      reportIssues(source, issue.issues, path);
      return;
    case "too_small":
      source.report("invalid-value", path, `${nameOf(path)} ${sizeMessage(issue.origin, "at least", issue.minimum)}`);
      return;
    case "too_big":
      source.report("invalid-value", path, `${nameOf(path)} ${sizeMessage(issue.origin, "at most", issue.maximum)}`);
      return;
    case "invalid_value":
      source.report("invalid-value", path, `${nameOf(path)} must be one of ${issue.values.map(String).join(", ")}`);
      return;
    case "custom":
      source.report(codeOf(issue), path, `${nameOf(path)} ${issue.message}`);
      return;
    default:
      source.report("invalid-value", path, `${nameOf(path)} ${issue.message}`);
  }
}

function reportType(source: Source, path: Path, expected: string, input: unknown): void {
  const isPlain = typeof input === "number" || typeof input === "boolean";
  const empty = input === null ? "; it is empty" : "";
  const message = `${nameOf(path)} must be ${withArticle(expected)}${empty}`;
  source.report("invalid-type", path, message, expected === "string" && isPlain ? { hint: "put it in quotes" } : {});
}

function reportKey(source: Source, path: Path, key: string): void {
  const { words, keys, later } = PLACES[placeOf(path)];
  const at = [...path, key];
  if ((later as readonly string[]).includes(key)) {
    source.report("not-supported-yet", at, `\`${key}\` is not supported yet`, { spot: "key" });
    return;
  }
  source.report("unknown-key", at, `unknown key "${clip(key)}" in ${words}${didYouMean(key, keys)}`, {
    spot: "key",
    hint: `known keys: ${keys.join(", ")}`,
  });
}

/** Which kind of map a path leads to. */
function placeOf(path: Path): keyof typeof PLACES {
  switch (path.findLast((part) => typeof part === "string")) {
    case "stages":
      return "stage";
    case "jobs":
      return "job";
    case "steps":
      return "step";
    case "matrix":
      return "matrix";
    case "agentSelector":
      return "selector";
    case "matchExpressions":
      return "labelExpression";
    default:
      return "pipeline";
  }
}

function codeOf(issue: z.core.$ZodIssueCustom): DiagnosticCode {
  return DIAGNOSTIC_CODES.find((code) => code === issue.params?.["code"]) ?? "invalid-value";
}

function nameOf(path: Path): string {
  const last = path.at(-1);
  if (last === undefined) return "the definition";
  if (typeof last === "number") return `item ${last + 1} of \`${String(path.at(-2) ?? "")}\``;
  return `\`${clip(String(last))}\``;
}

function deepest(issues: readonly Issue[]): number {
  // An issue of the value itself counts when it says more than that the type is another.
  const depthOf = ({ path, code }: Issue): number =>
    path.length + (code === "unrecognized_keys" || code === "custom" ? 1 : 0);
  return issues.reduce((depth, issue) => Math.max(depth, depthOf(issue)), 0);
}

function unionMessage(issue: Issue): string {
  return issue.message === "Invalid input" ? "has a value of the wrong type" : issue.message;
}

function withArticle(type: string): string {
  const words: Record<string, string> = {
    string: "a string",
    number: "a number",
    int: "a whole number",
    boolean: "true or false",
    array: "a list",
    object: "a map",
    record: "a map",
  };
  return words[type] ?? type;
}

function sizeMessage(origin: string, bound: "at least" | "at most", limit: number | bigint): string {
  if (origin === "array") return `must have ${bound} ${limit} item${limit === 1 ? "" : "s"}`;
  if (origin === "string") return `must have ${bound} ${limit} character${limit === 1 ? "" : "s"}`;
  return `must be ${bound} ${limit}`;
}
