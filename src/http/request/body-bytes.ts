/** The bytes of a request's body, bounded. */
import type { IncomingMessage } from "node:http";
import getRawBody from "raw-body";
import { MillraceError } from "../../domain/errors.ts";
import { sizeText } from "./body-bounds.ts";

/** A body that is too large is read and thrown away up to this size, so that its sender can read the answer. */
const MAX_DISCARDED_BYTES = 32 * 1024 * 1024;
/** The same for a body with a bound that is small because its sender needs no token, and is not to be read at length. */
const FEW_DISCARDED_BYTES = 256 * 1024;
const SMALL_BYTES = 16 * 1024;

/**
 * Reads the body. `length` is the header `Content-Length`, "" for a request without it. Throws `payload_too_large` for a
 * body of more than `limitBytes`, whose rest is thrown away, and `malformed_request` for a body that ends early.
 */
export async function readBytes(request: IncomingMessage, length: string, limitBytes: number): Promise<Buffer> {
  if (length !== "" && Number(length) <= limitBytes) return readAnnounced(request, Number(length));
  try {
    return await getRawBody(request, { length: length === "" ? null : length, limit: limitBytes });
  } catch (error) {
    const type = error instanceof Error && "type" in error ? error.type : undefined;
    if (type === "entity.too.large") {
      discardRest(request, limitBytes <= SMALL_BYTES ? FEW_DISCARDED_BYTES : MAX_DISCARDED_BYTES);
      const text = `the body is larger than ${sizeText(limitBytes)}: send less at a time`;
      throw new MillraceError("payload_too_large", text);
    }
    if (type === "request.aborted" || type === "request.size.invalid") throw endedEarly(error);
    throw error;
  }
}

/** Resolves with the last byte. The stream tells of its end some turns later, and the work on the request need not wait for it. */
function readAnnounced(request: IncomingMessage, length: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let left = length;
    const end = (cause?: Error): void => {
      if (left > 0) reject(endedEarly(cause));
      else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    };
    request.once("end", end);
    request.once("error", end);
    request.once("close", end);
    if (request.destroyed) return end();
    request.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      left -= chunk.length;
      if (left === 0) end();
    });
  });
}

function endedEarly(cause: unknown): MillraceError {
  return new MillraceError("malformed_request", "the body ended early", { cause });
}

/**
 * Reads the rest of a body and throws it away. While a part of the body is unread, the connection is reset when the server
 * closes it, and the answer would be lost.
 */
export function discardRest(request: IncomingMessage, atMost: number = MAX_DISCARDED_BYTES): void {
  let left = atMost;
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.destroy();
  });
  request.resume();
}
