/** Reads bodies and queries in the shapes that use cases declare. An error names every problem at once. */
import type { z } from "zod";
import { problemsOf, problemText } from "../../app/problems.ts";
import { MillraceError } from "../../domain/errors.ts";
import { readJsonBody } from "./json-body.ts";
import type { ApiContext } from "./state.ts";

/** The body in the given shape; an absent one counts as `{}`. Throws as {@link readJsonBody} does, and `malformed_request`. */
export async function parseBody<T extends z.ZodType>(ctx: ApiContext, shape: T): Promise<z.output<T>> {
  return parse(shape, (await readJsonBody(ctx)) ?? {}, "body");
}

/** {@link parseBody} for bodies with a definition. The error for the removed field `content` names `spec`, its successor. */
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

/**
 * Reads bodies as {@link parseBody} does, where most have the member `name` alone. Such a body is compared with the shape of that
 * member only: to compare it with the whole shape takes several times as long. All other members must be optional.
 */
export function parseMostly(name: string, member: z.ZodType): typeof parseBody {
  return async (ctx, shape) => {
    const body = (await readJsonBody(ctx)) ?? {};
    const found = hasOnly(name, body) ? member.safeParse(body[name]) : undefined;
    return found?.success === true ? ({ [name]: found.data } as z.output<typeof shape>) : parse(shape, body, "body");
  };
}

function hasOnly(name: string, body: object): body is Readonly<Record<string, unknown>> {
  const names = Object.keys(body);
  return names.length === 1 && names[0] === name;
}

/** The query parameters in the given shape; a repeated parameter is a problem. */
export function parseQuery<T extends z.ZodType>(ctx: ApiContext, shape: T): z.output<T> {
  return parse(shape, { ...ctx.query }, "query");
}

function parse<T extends z.ZodType>(shape: T, value: unknown, part: "body" | "query"): z.output<T> {
  const result = shape.safeParse(value, { reportInput: false });
  if (result.success) return result.data;
  const found = problemsOf(result.error);
  const more = found.problemCount > 1 ? ` (and ${found.problemCount - 1} more)` : "";
  const message = `the ${part} has problems: ${problemText(found.problems[0]!)}${more}`;
  throw new MillraceError("malformed_request", message, found);
}
