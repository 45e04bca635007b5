/** What the schema finds, as diagnostics with positions and the nearest key. */
import type { z } from "zod";
import { didYouMean } from "../expressions/nearest.ts";
import { DIAGNOSTIC_CODES, type DiagnosticCode } from "./diagnostics.ts";
import { clip } from "./read-text.ts";
import type { Path, Source } from "./source.ts";
import { reportUnknownKey } from "./unknown-keys.ts";

type Issue = z.core.$ZodIssue;

/** Reports every issue, `as` one code or each as its own. Positions are those of keys for keys, of values for values. */
export function reportIssues(source: Source, issues: readonly Issue[], prefix: Path = [], as?: DiagnosticCode): void {
  for (const issue of issues) reportIssue(source, issue, [...prefix, ...issue.path], as);
}

function reportIssue(source: Source, issue: Issue, path: Path, as: DiagnosticCode | undefined): void {
  switch (issue.code) {
    case "unrecognized_keys":
      for (const key of issue.keys) reportUnknownKey(source, path, key);
      return;
    case "invalid_union": {
      // The branch that got furthest says most; the words for all speak where none did.
      const [best] = issue.errors.toSorted((a, b) => deepest(b) - deepest(a));
      if (best !== undefined && deepest(best) > 0) reportIssues(source, best, path, as);
      else source.report(as ?? "invalid-type", path, `${nameOf(path)} ${unionMessage(issue)}`);
      return;
    }
    case "invalid_type":
      // A text has no undefined values: only a key that is not there reads as one.
      if (issue.input === undefined) {
        source.report(as ?? "missing-key", path.slice(0, -1), `${nameOf(path)} is required here`, { spot: "key" });
      } else reportType(source, path, issue.expected, issue.input, as);
      return;
    case "invalid_key":
      reportIssues(source, issue.issues, path, as);
      return;
    case "too_small":
      source.report(
        as ?? "invalid-value",
        path,
        `${nameOf(path)} ${sizeMessage(issue.origin, "at least", issue.minimum)}`,
      );
      return;
    case "too_big":
      source.report(
        as ?? "invalid-value",
        path,
        `${nameOf(path)} ${sizeMessage(issue.origin, "at most", issue.maximum)}`,
      );
      return;
    case "invalid_value":
      reportWord(source, path, issue.values.map(String), issue.input, as);
      return;
    case "custom":
      source.report(as ?? codeOf(issue), path, `${nameOf(path)} ${issue.message}`);
      return;
    default:
      source.report(as ?? "invalid-value", path, `${nameOf(path)} ${issue.message}`);
  }
}

function reportWord(
  source: Source,
  path: Path,
  words: readonly string[],
  input: unknown,
  as: DiagnosticCode = "invalid-value",
): void {
  const near = typeof input === "string" ? didYouMean(input, words) : "";
  source.report(as, path, `${nameOf(path)} must be ${words.length > 1 ? "one of " : ""}${words.join(", ")}${near}`);
}

function reportType(
  source: Source,
  path: Path,
  expected: string,
  input: unknown,
  as: DiagnosticCode = "invalid-type",
): void {
  const isPlain = typeof input === "number" || typeof input === "boolean";
  const empty = input === null ? "; it is empty" : "";
  const message = `${nameOf(path)} must be ${withArticle(expected)}${empty}`;
  source.report(as, path, message, expected === "string" && isPlain ? { hint: "put it in quotes" } : {});
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
