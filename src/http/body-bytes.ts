/** The bytes of a request's body, bounded. */
import type { IncomingMessage } from "node:http";
import getRawBody from "raw-body";
import { MillraceError } from "../domain/errors.ts";

/** What is thrown away of a body that is too large, so that its sender gets to read the answer. */
const MAX_DISCARDED_BYTES = 32 * 1024 * 1024;

/**
 * The body, of `length` bytes as the request says, "" when it does not. Throws `payload_too_large` for one of more than
 * `limitBytes`, of which the rest is not kept, and `malformed_request` for one that ends early.
 */
export async function readBytes(request: IncomingMessage, length: string, limitBytes: number): Promise<Buffer> {
  try {
    return await getRawBody(request, { length: length === "" ? null : length, limit: limitBytes });
  } catch (error) {
    const type = error instanceof Error && "type" in error ? error.type : undefined;
    if (type === "entity.too.large") {
      discardRest(request);
      const limit = `${limitBytes / (1024 * 1024)} MB`;
      throw new MillraceError("payload_too_large", `the body is larger than ${limit}: send less at a time`);
    }
    if (type === "request.aborted" || type === "request.size.invalid") {
      throw new MillraceError("malformed_request", "the body ended early", { cause: error });
    }
    throw error;
  }
}

/** Reads on into nothing: an answer sent over unread data would be lost with a reset of the connection. */
export function discardRest(request: IncomingMessage): void {
  let left = MAX_DISCARDED_BYTES;
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.destroy();
  });
  request.resume();
}
