/** Shapes of bodies and queries: every problem is named at once, with a pointer. */
import type { z } from "zod";
import { MillraceError, type Problem } from "../domain/errors.ts";
import { readJsonBody } from "./json-body.ts";
import type { ApiContext } from "./state.ts";

/** The body in the given shape; an absent one counts as `{}`. Throws as {@link readJsonBody} does, and `malformed_request`. */
export async function parseBody<T extends z.ZodType>(ctx: ApiContext, shape: T): Promise<z.output<T>> {
  return parse(shape, (await readJsonBody(ctx)) ?? {}, "body");
}

/** {@link parseBody} for definitions: the text field that they once had is named with its successor. */
export async function parseDefinitionBody<T extends z.ZodType>(ctx: ApiContext, shape: T): Promise<z.output<T>> {
  const body = (await readJsonBody(ctx)) ?? {};
  if (typeof body === "object" && Object.hasOwn(body, "content")) {
    const message = "`content` is no longer accepted: send the structured definition in `spec`";
    throw new MillraceError("malformed_request", message, {
      problems: [{ code: "removed", pointer: "/content", message }],
    });
  }
  return parse(shape, body, "body");
}

/** The query parameters in the given shape; a repeated parameter is a problem. */
export function parseQuery<T extends z.ZodType>(ctx: ApiContext, shape: T): z.output<T> {
  return parse(shape, { ...ctx.query }, "query");
}

function parse<T extends z.ZodType>(shape: T, value: unknown, part: "body" | "query"): z.output<T> {
  const result = shape.safeParse(value, { reportInput: false });
  if (result.success) return result.data;
  const problems = result.error.issues.flatMap(toProblems);
  const [first] = problems;
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more)` : "";
  throw new MillraceError(
    "malformed_request",
    `the ${part} has problems: ${first?.pointer || "/"} ${first?.message}${more}`,
    {
      problems,
    },
  );
}

function toProblems(issue: z.core.$ZodIssue): Problem[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      code: "unknown_key",
      pointer: pointerTo([...issue.path, key]),
      message: "is not a known field",
    }));
  }
  const missing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
  return [
    {
      code: missing ? "required" : issue.code,
      pointer: pointerTo(issue.path),
      message: missing ? "is required" : issue.message,
    },
  ];
}

/** RFC 6901. */
function pointerTo(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
