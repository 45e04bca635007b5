/** Bounds of queries. They hold before a query is parsed, because the parser's cost grows with the square of its parameters. */
import type { Middleware } from "koa";
import { MillraceError } from "../../domain/errors.ts";
import type { RequestState } from "./state.ts";

/** No route has more than ten parameters. */
const MAX_PARAMETERS = 32;
const MAX_BYTES = 4_096;

/** Throws `malformed_request` for a query with too many bytes or parameters. */
export function boundQuery(): Middleware<RequestState> {
  return (ctx, next) => {
    const { querystring } = ctx;
    // The text of a request line has one character for each byte.
    if (querystring.length > MAX_BYTES) refuse(`the query has ${querystring.length} bytes; ${MAX_BYTES} are allowed`);
    const parameters = countParameters(querystring);
    if (parameters > MAX_PARAMETERS) refuse(`the query has ${parameters} parameters; ${MAX_PARAMETERS} are allowed`);
    return next();
  };
}

function countParameters(query: string): number {
  if (query === "") return 0;
  let count = 1;
  for (let at = query.indexOf("&"); at >= 0; at = query.indexOf("&", at + 1)) count++;
  return count;
}

function refuse(message: string): never {
  throw new MillraceError("malformed_request", message, { problems: [{ code: "too_big", pointer: "", message }] });
}
