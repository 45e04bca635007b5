/** Strict JSON bodies: bounded, typed by their content type, and refused with the line and column of a mistake. */
import { MillraceError } from "../domain/errors.ts";
import { discardRest, readBytes } from "./body-bytes.ts";
import { jsonErrorOffset } from "./json-position.ts";
import type { ApiContext } from "./state.ts";

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MAX_DEPTH = 64;

/**
 * The body as JSON, or undefined when there is none. Throws `unsupported_media_type`, `payload_too_large` (without
 * keeping the rest) and `malformed_request` with line and column.
 */
export async function readJsonBody(ctx: ApiContext): Promise<unknown> {
  // Null: the request has no body at all. An announced length of 0 is no body either.
  const mediaType = ctx.is("application/json");
  if (mediaType === null || ctx.get("content-length") === "0") return undefined;
  if (mediaType === false) {
    discardRest(ctx.req);
    throw new MillraceError("unsupported_media_type", "the body must be sent with `Content-Type: application/json`");
  }
  const text = decode(await readBytes(ctx.req, ctx.get("content-length"), MAX_BODY_BYTES));
  return text.trim() === "" ? undefined : parse(text);
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new MillraceError("malformed_request", "the body is not valid UTF-8", { cause: error });
  }
}

function parse(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const before = text.slice(0, jsonErrorOffset(text)).split("\n");
    const line = before.length;
    const column = before.at(-1)!.length + 1;
    const message = `the body is not valid JSON at line ${line}, column ${column}`;
    throw new MillraceError("malformed_request", message, {
      cause: error,
      problems: [{ code: "json", pointer: "", message, line, column }],
    });
  }
  refuseDepth(value);
  return value;
}

/** A value that is nested deeper would overflow the stack of code that walks it. */
function refuseDepth(body: unknown): void {
  let level: unknown[] = [body];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) {
      throw new MillraceError("malformed_request", `the body is nested deeper than ${MAX_DEPTH} levels`);
    }
    level = level.flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : []));
  }
}
