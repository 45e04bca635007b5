/** The fields of a form that a browser sends. */
import { MillraceError } from "../../domain/errors.ts";
import { discardRest, readBytes } from "../request/body-bytes.ts";
import { inTime } from "../request/json-body.ts";
import type { ApiContext } from "../request/state.ts";

const MAX_BYTES = 16 * 1024;
const MEDIA_TYPE = "application/x-www-form-urlencoded";

export type Fields = (name: string) => string;

/**
 * Reads the fields; a field that is missing is an empty text, and of a repeated one the first counts. Throws
 * `unsupported_media_type`, and `payload_too_large` for more than 16 kB.
 */
export async function readForm(ctx: ApiContext): Promise<Fields> {
  if (ctx.is(MEDIA_TYPE) === false) {
    discardRest(ctx.req);
    throw new MillraceError("unsupported_media_type", `the body must be sent with \`Content-Type: ${MEDIA_TYPE}\``);
  }
  const bytes = await inTime(ctx, readBytes(ctx.req, ctx.get("content-length"), MAX_BYTES));
  const fields = new URLSearchParams(bytes.toString("utf8"));
  return (name) => fields.get(name) ?? "";
}
