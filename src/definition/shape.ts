/** What the schema finds, as diagnostics with positions and the nearest key. */
import type { z } from "zod";
import { LATER_KEYS, jobSchema, matrixSchema, pipelineSchema, stageSchema, stepSchema } from "./schema.ts";
import { selectorSchema } from "./schema.ts";
import { didYouMean } from "./nearest.ts";
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
      // The branch that got furthest says most; a plain message speaks for all where none did.
      const [best] = issue.errors.toSorted((a, b) => deepest(b) - deepest(a));
      if (best !== undefined && deepest(best) > 0) reportIssues(source, best, path);
      else source.report("invalid-type", path, `${nameOf(path)} ${unionMessage(issue)}`);
      return;
    }
    case "invalid_type":
      if (issue.input === undefined && isMissing(issue)) {
        source.report("missing-key", path.slice(0, -1), `${nameOf(path)} is required here`, { spot: "key" });
      } else {
        source.report("invalid-type", path, `${nameOf(path)} must be ${withArticle(issue.expected)}`);
      }
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
    default:
      source.report(
        issue.message.includes("duration") || issue.message.includes("15m") ? "invalid-duration" : "invalid-value",
        path,
        `${nameOf(path)} ${issue.message}`,
      );
  }
}

function reportKey(source: Source, path: Path, key: string): void {
  const place = placeOf(path);
  const at = [...path, key];
  if ((LATER_KEYS[place.kind] as readonly string[]).includes(key)) {
    source.report("not-supported-yet", at, `\`${key}\` is not supported yet`, { spot: "key" });
    return;
  }
  source.report("unknown-key", at, `unknown key "${key}" in ${place.words}${didYouMean(key, place.keys)}`, {
    spot: "key",
    hint: `known keys: ${place.keys.join(", ")}`,
  });
}

interface Place {
  readonly kind: keyof typeof LATER_KEYS;
  readonly words: string;
  readonly keys: readonly string[];
}

/** Which map of the language a path leads to. */
function placeOf(path: Path): Place {
  const names = path.filter((part) => typeof part === "string");
  const last = names.at(-1);
  const keysOf = (schema: { readonly shape: object }): readonly string[] => Object.keys(schema.shape);
  if (last === "steps") return { kind: "step", words: "a step", keys: keysOf(stepSchema) };
  if (last === "jobs") return { kind: "job", words: "a job", keys: keysOf(jobSchema) };
  if (last === "stages") return { kind: "stage", words: "a stage", keys: keysOf(stageSchema) };
  if (last === "matrix") return { kind: "matrix", words: "a matrix", keys: keysOf(matrixSchema) };
  if (last === "agentSelector") return { kind: "matrix", words: "an agent selector", keys: keysOf(selectorSchema) };
  if (last === "matchExpressions") {
    return { kind: "matrix", words: "a label expression", keys: ["key", "operator", "values"] };
  }
  return { kind: "pipeline", words: "a pipeline", keys: keysOf(pipelineSchema) };
}

function isMissing(issue: Issue): boolean {
  return issue.message.includes("received undefined");
}

function nameOf(path: Path): string {
  const last = path.at(-1);
  if (last === undefined) return "the definition";
  return typeof last === "number" ? `item ${last + 1} of \`${String(path.at(-2) ?? "")}\`` : `\`${String(last)}\``;
}

function deepest(issues: readonly Issue[]): number {
  return Math.max(0, ...issues.map(({ path, code }) => path.length + (code === "unrecognized_keys" ? 1 : 0)));
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
