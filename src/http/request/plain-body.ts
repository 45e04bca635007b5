/** Bodies are taken as they are sent. */
import { MillraceError } from "../../domain/errors.ts";
import { discardRest } from "./body-bytes.ts";
import type { ApiContext } from "./state.ts";

/**
 * Throws `unsupported_media_type` for a compressed body, which would be taken for broken JSON or stored as the content of a
 * file. No body is ever inflated, so none becomes larger than what was sent.
 */
export function refuseEncoded(ctx: ApiContext): void {
  const encoding = ctx.get("content-encoding");
  if (encoding === "" || encoding.toLowerCase() === "identity") return;
  discardRest(ctx.req);
  ctx.set("Accept-Encoding", "identity");
  throw new MillraceError(
    "unsupported_media_type",
    `the body must be sent as it is, without \`Content-Encoding: ${encoding.slice(0, 50)}\``,
  );
}
