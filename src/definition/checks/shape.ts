/** Turns the issues that the schema finds into diagnostics with positions, and with the nearest known key. */
import type { z } from "zod";
import { didYouMean } from "../../expressions/nearest.ts";
import { toPointer } from "../../domain/json-pointer.ts";
import { pipelineSchema, type RawPipeline } from "../schema/pipeline.ts";
import { DIAGNOSTIC_CODES, type DiagnosticCode } from "../text/diagnostics.ts";
import { clip } from "../text/read-text.ts";
import type { Path, Source, Spot } from "../text/source.ts";
import { meantKey, reportUnknownKey } from "./unknown-keys.ts";

type Issue = z.core.$ZodIssue;

/**
 * Reports what is wrong with the shape of a text's value, except for the values of the keys `ignored` at its top. Answers the
 * value when nothing is.
 */
export function checkShape(source: Source, ignored: readonly string[] = []): RawPipeline | undefined {
  try {
    const { data, error } = pipelineSchema.safeParse(source.value, { reportInput: true });
    const issues = error?.issues.filter(({ path: [key] }) => !ignored.includes(String(key))) ?? [];
    if (issues.length > 0 && isMap(source.value)) reportIssues(source, issues);
    return data;
  } catch (error) {
    // The library passes its issues as arguments of one call; more than about 100,000 of them overflow the stack.
    if (!(error instanceof RangeError)) throw error;
    source.report("diagnostic-limit", [], "this has too many problems to list them: is it a definition?");
    return undefined;
  }
}

/**
 * Reports every issue, with the code `as` or with a code of its own. `prefix` is the place of the checked value. A problem of a
 * key has the position of the key, a problem of a value that of the value.
 */
export function reportIssues(source: Source, issues: readonly Issue[], prefix: Path = [], as?: DiagnosticCode): void {
  const misspelt = misspeltKeys(issues, prefix);
  for (const issue of issues) {
    // A misspelt key is reported once, as an unknown key, and not as a missing one too.
    if (isAbsent(issue) && misspelt.has(toPointer(issue.path))) continue;
    reportIssue(source, issue, [...prefix, ...issue.path], as);
  }
}

/** Pointers to the required keys that are absent because their names are misspelt. */
function misspeltKeys(issues: readonly Issue[], prefix: Path): ReadonlySet<string> {
  const lacking = new Set(issues.filter(isAbsent).map(({ path }) => toPointer(path.slice(0, -1))));
  const found = new Set<string>();
  for (const issue of issues) {
    if (issue.code !== "unrecognized_keys" || !lacking.has(toPointer(issue.path))) continue;
    for (const key of issue.keys) {
      const meant = meantKey([...prefix, ...issue.path], key);
      if (meant !== undefined) found.add(toPointer([...issue.path, meant]));
    }
  }
  return found;
}

/** Whether a required key is absent: no value in a text is undefined, so an undefined input is an absent key. */
function isAbsent({ code, input }: Issue): boolean {
  return input === undefined && (code === "invalid_type" || code === "invalid_value" || code === "invalid_union");
}

function reportIssue(source: Source, issue: Issue, path: Path, as?: DiagnosticCode, spot: Spot = "value"): void {
  if (isAbsent(issue)) {
    source.report(as ?? "missing-key", path.slice(0, -1), `${nameOf(path)} is required here`, { spot: "key" });
    return;
  }
  switch (issue.code) {
    case "unrecognized_keys":
      for (const key of issue.keys) reportUnknownKey(source, path, key);
      return;
    case "invalid_union": {
      // The branch whose error lies deepest is the one that was meant; when no error lies deeper, the union's own message is used.
      const [best] = issue.errors.toSorted((a, b) => deepest(b) - deepest(a));
      if (best !== undefined && deepest(best) > 0) reportIssues(source, best, path, as);
      else source.report(as ?? "invalid-type", path, `${nameOf(path)} ${unionMessage(issue)}`);
      return;
    }
    case "invalid_type":
      reportType(source, path, issue, as);
      return;
    case "invalid_key":
      for (const inner of issue.issues) reportIssue(source, inner, path, as, "key");
      return;
    case "too_small":
      source.report(
        as ?? "invalid-value",
        path,
        `${nameOf(path)} ${sizeMessage(issue.origin, "at least", issue.minimum)}`,
        { spot },
      );
      return;
    case "too_big":
      source.report(
        as ?? "invalid-value",
        path,
        `${nameOf(path)} ${sizeMessage(issue.origin, "at most", issue.maximum)}`,
        { spot },
      );
      return;
    case "invalid_value":
      reportWord(source, path, issue.values.map(String), issue.input, as);
      return;
    case "custom":
      source.report(as ?? codeOf(issue), path, `${nameOf(path)} ${issue.message}`);
      return;
    default:
      source.report(as ?? "invalid-value", path, `${nameOf(path)} ${issue.message}`, { spot });
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
  { expected, input, message }: z.core.$ZodIssueInvalidType,
  as: DiagnosticCode = "invalid-type",
): void {
  const empty = input === null ? "; it is empty" : "";
  const must = isOwnMessage(message) ? message : `must be ${withArticle(expected)}`;
  const hint = isOwnMessage(message) ? undefined : typeHint(expected, input);
  source.report(as, path, `${nameOf(path)} ${must}${empty}`, hint === undefined ? {} : { hint });
}

function typeHint(expected: string, input: unknown): string | undefined {
  const isText = typeof input === "string";
  if (expected === "string" && (typeof input === "number" || typeof input === "boolean")) return "put it in quotes";
  if (expected === "boolean" && (input === "true" || input === "false")) return "write it without quotes";
  if ((expected === "number" || expected === "int") && isText && /^-?\d+$/.test(input))
    return "write it without quotes";
  if (expected !== "array" || input === null) return undefined;
  if (typeof input !== "object") return "put it in brackets, or on a line of its own after `- `";
  return Object.values(input!).every(isMap)
    ? "begin each item with `- `, and give it its key as `name`"
    : "begin it with `- ` to make it the only item of a list";
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
  // An issue of the value itself counts as deeper when it says more than "wrong type".
  const depthOf = ({ path, code }: Issue): number =>
    path.length + (code === "unrecognized_keys" || code === "custom" ? 1 : 0);
  return issues.reduce((depth, issue) => Math.max(depth, depthOf(issue)), 0);
}

function unionMessage({ message }: Issue): string {
  return isOwnMessage(message) ? message : "has a value of the wrong type";
}

/** Whether the message comes from a schema of this project, and not from the library. */
function isOwnMessage(message: string): boolean {
  return !message.startsWith("Invalid input");
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

function isMap(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
