/** The one place that turns what a schema finds into the problems of an error, for HTTP and gRPC alike. */
import type { z } from "zod";
import { MAX_LISTED_PROBLEMS, type Problem } from "../domain/errors.ts";
import { toPointer } from "../domain/json-pointer.ts";

/** The first problems of a value, in the order in which the schema found them, and how many there are. */
interface FoundProblems {
  readonly problems: readonly Problem[];
  readonly problemCount: number;
}

/**
 * The problems of a value that a schema refuses; at least one. Codes: `required` for a missing field, `unknown_key` for
 * each field that the schema does not know, and zod's code of the issue (`invalid_type`, `too_small`, `too_big`,
 * `invalid_format`, `invalid_value`, `custom` and so on) for everything else. Lists at most {@link MAX_LISTED_PROBLEMS}.
 */
export function problemsOf({ issues }: z.ZodError): FoundProblems {
  const problems: Problem[] = [];
  let problemCount = 0;
  for (const issue of issues) {
    problemCount += issue.code === "unrecognized_keys" ? issue.keys.length : 1;
    const room = MAX_LISTED_PROBLEMS - problems.length;
    if (room > 0) problems.push(...problemsOfIssue(issue, room));
  }
  return { problems, problemCount };
}

function problemsOfIssue(issue: z.core.$ZodIssue, room: number): readonly Problem[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.slice(0, room).map((key) => ({
      code: "unknown_key",
      pointer: toPointer([...issue.path, key]),
      message: "is not a known field",
    }));
  }
  const pointer = toPointer(issue.path);
  const isMissing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
  if (isMissing) return [{ code: "required", pointer, message: "is required" }];
  return [{ code: issue.code, pointer, message: isOfZod(issue.message) ? messageOf(issue) : issue.message }];
}

/** Whether a message is zod's own, and not one that the schema gives. */
function isOfZod(message: string): boolean {
  return /^(?:Invalid|Too big|Too small)\b/.test(message);
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

/** Messages in the words of the rest of the API: each goes on after the place. */
function messageOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map((value) => JSON.stringify(value)).join(", ")}`;
    case "too_big":
      return boundText(issue.origin, "at most", issue.maximum, issue.inclusive);
    case "too_small":
      return boundText(issue.origin, "at least", issue.minimum, issue.inclusive);
    case "invalid_union":
      return "has none of the forms that are allowed here";
    default:
      return issue.message;
  }
}

function boundText(origin: string, word: "at most" | "at least", bound: number | bigint, inclusive = true): string {
  if (origin === "string") return `must have ${word} ${counted(bound, "character", "characters")}`;
  if (origin === "array" || origin === "set") return `must have ${word} ${counted(bound, "entry", "entries")}`;
  if (inclusive) return `must be ${word} ${bound}`;
  return `must be ${word === "at most" ? "less" : "more"} than ${bound}`;
}

function counted(count: number | bigint, one: string, several: string): string {
  return `${count} ${Number(count) === 1 ? one : several}`;
}

/** A problem as one text: where it is, `/` for the whole value, and what is wrong there. */
export function problemText({ pointer, message }: Problem): string {
  return `${pointer || "/"} ${message}`;
}
