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
  return [{ code: issue.code, pointer, message: issue.message }];
}

/** A problem as one text: where it is, `/` for the whole value, and what is wrong there. */
export function problemText({ pointer, message }: Problem): string {
  return `${pointer || "/"} ${message}`;
}
