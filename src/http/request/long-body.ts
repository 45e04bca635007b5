/**
 * Bodies that are taken as they come: a file of a form, or a part of a file. Such a body may take as long as it needs, while
 * something of it comes. Every other request must arrive in a given time.
 */
import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { BusboyFileStream, BusboyInstance } from "@fastify/busboy";
import { MillraceError } from "../../domain/errors.ts";
import { discardRest } from "./body-bytes.ts";
import { refuseEncoded } from "./plain-body.ts";
import type { ApiContext } from "./state.ts";

/** A sender may be silent for this long. */
const SILENT_MS = 30_000;
/** Bounds of the headers of a part of a form. */
const HEADER_BYTES = 4_096;
const HEADERS = 20;

const deadlines = new WeakMap<IncomingMessage, NodeJS.Timeout>();

/** Ends the connection of a request that has not arrived as a whole within `ms`, unless its route takes a long body. */
export function boundArrival(request: IncomingMessage, ms: number): void {
  const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
  if (length === "0" && encoding === undefined) return;
  const timer = setTimeout(() => {
    if (!request.complete) request.socket.destroy();
  }, ms);
  deadlines.set(request, timer);
  request.once("close", () => clearTimeout(timer));
}

export interface FormFile {
  readonly name: string;
  readonly type: string;
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * The bytes of the body. Throws `unsupported_media_type` at once for another type and for a compressed body, and while they are read
 * `malformed_request` for a body that ends early or falls silent.
 */
export function readLongBody(ctx: ApiContext, type: string): AsyncIterable<Uint8Array> {
  requirePlain(ctx, type);
  return receive(ctx, ctx.req);
}

/**
 * The file of a form that holds nothing else. The form is read as the content is taken. Throws `unsupported_media_type`, and
 * `malformed_request` for a form that is broken or holds no file, or more than one part.
 */
export async function openFormFile(ctx: ApiContext, type: string): Promise<FormFile> {
  requirePlain(ctx, type);
  const request = ctx.req;
  const { default: busboy } = await import("@fastify/busboy");
  let parser: BusboyInstance;
  try {
    parser = new busboy.Busboy({
      headers: { "content-type": ctx.get("content-type") },
      preservePath: true,
      limits: { parts: 1, headerPairs: HEADERS, headerSize: HEADER_BYTES },
    });
  } catch (error) {
    discardRest(request);
    throw malformed("the form names no boundary in its Content-Type", error);
  }
  const finished = new Promise<void>((resolve, reject) => {
    parser.once("finish", resolve);
    parser.once("error", (error: unknown) => reject(malformed("the form is broken", error)));
    parser.once("partsLimit", () => reject(malformed("the form must hold one file and nothing else")));
    parser.once("field", () => reject(malformed("the form must hold one file and nothing else")));
    request.once("close", () => {
      if (!request.complete) reject(malformed("the form ended early"));
    });
  });
  const file = new Promise<FormFile>((resolve) => {
    parser.once(
      "file",
      (_: string, stream: BusboyFileStream, name: string | undefined, __: string, contentType: string) => {
        // What is wrong with the form ends the reading of the file, too.
        stream.on("error", () => {});
        finished.catch((error: Error) => stream.destroy(error));
        resolve({ name: name ?? "", type: contentType, content: receive(ctx, stream, finished) });
      },
    );
  });
  request.pipe(parser);
  try {
    return await Promise.race([file, finished.then(() => Promise.reject(malformed("the form holds no file")))]);
  } catch (error) {
    leave(request);
    throw error;
  }
}

/** Reads and throws away what is left of the body, so that its sender can read the answer. */
function leave(request: IncomingMessage): void {
  request.unpipe();
  discardRest(request);
}

function requirePlain(ctx: ApiContext, type: string): void {
  refuseEncoded(ctx);
  if (ctx.is(type) === type) return;
  discardRest(ctx.req);
  throw new MillraceError("unsupported_media_type", `the body must be sent with \`Content-Type: ${type}\``);
}

/** The bytes of `source`, which is the request or is fed by it. `finished` resolves when the rest of the body is fine. */
async function* receive(ctx: ApiContext, source: Readable, finished?: Promise<void>): AsyncGenerator<Uint8Array, void> {
  const request = ctx.req;
  clearTimeout(deadlines.get(request));
  ctx.state.takeYourTime();
  let timer: NodeJS.Timeout | undefined;
  const listen = (): void => {
    timer = setTimeout(() => source.destroy(malformed("the body fell silent")), SILENT_MS);
  };
  let isWhole = false;
  try {
    listen();
    for await (const bytes of source.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      clearTimeout(timer);
      yield bytes;
      listen();
    }
    await finished;
    isWhole = true;
  } catch (error) {
    throw error instanceof MillraceError ? error : malformed("the body ended early", error);
  } finally {
    clearTimeout(timer);
    if (!isWhole && !request.destroyed) leave(request);
  }
}

function malformed(text: string, cause?: unknown): MillraceError {
  return new MillraceError("malformed_request", text, cause === undefined ? {} : { cause });
}
