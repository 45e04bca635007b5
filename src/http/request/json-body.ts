/** Strict JSON bodies: bounded, typed by their content type, and refused with the line and column of a mistake. */
import { MillraceError } from "../../domain/errors.ts";
import { toPointer } from "../../domain/json-pointer.ts";
import { discardRest, readBytes } from "./body-bytes.ts";
import { bodyBoundsOf, SMALL_BODY } from "./body-bounds.ts";
import { jsonErrorOffset, repeatedKey } from "./json-position.ts";
import { measureJson } from "./json-scan.ts";
import { refuseEncoded } from "./plain-body.ts";
import type { ApiContext } from "./state.ts";

const MAX_DEPTH = 64;
const UTF_8 = new TextDecoder("utf-8", { fatal: true });
/** Objects lose a member of this name without a word: it is the name of their prototype. */
const RESERVED_KEY = "__proto__";

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
  refuseEncoded(ctx);
  const { bytes: limit, values } = bodyBoundsOf(ctx);
  const reading = readBytes(ctx.req, ctx.get("content-length"), limit);
  const bytes = await (limit > SMALL_BODY.bytes ? reading : inTime(ctx, reading));
  const members = refuseExcess(bytes, values);
  const text = decode(bytes);
  return text.trim() === "" ? undefined : parse(text, members);
}

/** Throws `malformed_request` when a small body does not arrive in time. The connection is closed behind the answer. */
export async function inTime(ctx: ApiContext, reading: Promise<Buffer>): Promise<Buffer> {
  const ms = ctx.state.smallBodyWithinMs;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const text = `the body did not arrive within ${ms / 1_000} s`;
    timer = setTimeout(() => {
      ctx.set("Connection", "close");
      reject(new MillraceError("malformed_request", text));
    }, ms);
  });
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Answers how many members the objects of the text have. A value that is nested deeper would overflow the stack of code that
 * walks it.
 */
function refuseExcess(bytes: Uint8Array, values: number): number {
  const { exceeded, members } = measureJson(bytes, { depth: MAX_DEPTH, values });
  if (exceeded === undefined) return members;
  const message =
    exceeded === "depth"
      ? `the body is nested deeper than ${MAX_DEPTH} levels`
      : `the body has more than ${values} members and items`;
  throw new MillraceError("malformed_request", message, { problems: [{ code: "too_big", pointer: "", message }] });
}

function decode(bytes: Buffer): string {
  try {
    return UTF_8.decode(bytes);
  } catch (error) {
    throw new MillraceError("malformed_request", "the body is not valid UTF-8", { cause: error });
  }
}

/** `members`: how many the objects of the text have. */
function parse(text: string, members: number): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const { line, column } = placeOf(jsonErrorOffset(text), text);
    const message = `the body is not valid JSON at line ${line}, column ${column}`;
    throw new MillraceError("malformed_request", message, {
      cause: error,
      problems: [{ code: "json", pointer: "", message, line, column }],
    });
  }
  // Only a text with this name, or with an escaped character, can hold a key of this name.
  if (text.includes(RESERVED_KEY) || text.includes("\\u")) refuseReservedKeys(value, []);
  // An object keeps one member of each key.
  if (membersOf(value) !== members) refuseRepeatedKey(text);
  return value;
}

function membersOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + membersOf(item), 0);
  const items = Object.values(value);
  let sum = items.length;
  for (const item of items) sum += membersOf(item);
  return sum;
}

function refuseRepeatedKey(text: string): void {
  const { path, offset } = repeatedKey(text);
  const { line, column } = placeOf(offset, text);
  const pointer = toPointer(path);
  const message = `the key stands twice in one object; the second time at line ${line}, column ${column}`;
  throw new MillraceError("malformed_request", `the body has problems: ${pointer} ${message}`, {
    problems: [{ code: "duplicate_key", pointer, message, line, column }],
  });
}

function placeOf(offset: number, text: string): { readonly line: number; readonly column: number } {
  let line = 1;
  let start = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) {
    line++;
    start = at + 1;
  }
  return { line, column: offset - start + 1 };
}

function refuseReservedKeys(value: unknown, path: readonly PropertyKey[]): void {
  if (typeof value !== "object" || value === null) return;
  if (Object.hasOwn(value, RESERVED_KEY)) {
    const pointer = toPointer([...path, RESERVED_KEY]);
    const message = `no key can be ${RESERVED_KEY}: use another name`;
    throw new MillraceError("malformed_request", `the body has problems: ${pointer} ${message}`, {
      problems: [{ code: "reserved_key", pointer, message }],
    });
  }
  for (const [key, item] of Object.entries(value)) refuseReservedKeys(item, [...path, key]);
}
