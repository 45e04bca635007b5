/** Reads messages of the contract in the shapes that use cases declare. An error names every problem at once. */
import type { z } from "zod";
import { problemsOf, problemText } from "../../app/problems.ts";
import { MillraceError } from "../../domain/errors.ts";

/** The message in the given shape. Throws `malformed_request` with every problem. */
export function parseMessage<T extends z.ZodType>(shape: T, message: unknown): z.output<T> {
  const result = shape.safeParse(message);
  if (result.success) return result.data;
  const found = problemsOf(result.error);
  const unlisted = found.problemCount - found.problems.length;
  const texts = [...found.problems.map(problemText), ...(unlisted > 0 ? [`and ${unlisted} more`] : [])].join("; ");
  throw new MillraceError("malformed_request", `the request has problems: ${texts}`, found);
}
