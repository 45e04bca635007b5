/** Answers with the content of a file: whole, in part, or not at all when the caller has it. */
import { posix } from "node:path";
import { Readable } from "node:stream";
import { readRange } from "./request/byte-range.ts";
import type { RouteContext } from "./request/state.ts";

export interface FileContent {
  /** `path`: what its name is taken from. */
  readonly file: { readonly path: string; readonly sizeBytes: number; readonly sha256: string };
  /** The bytes from offset `from` on, in pieces. */
  read(from: number, length: number): AsyncIterable<Uint8Array>;
  /** Makes an address from which the caller can fetch the file elsewhere, if there is one. */
  readonly link?: (() => Promise<string | undefined>) | undefined;
}

/** What a route that sends content answers with. */
export const CONTENT_STATUSES = [200, 206, 304, 307] as const;
export const CONTENT_TYPE = "application/octet-stream";

/**
 * Always as a download of no particular type, in a sandbox without scripts: a browser must not run a file that a step wrote
 * or a user sent as a page of this server.
 */
export async function sendContent(ctx: RouteContext, content: FileContent): Promise<void> {
  const { path, sizeBytes, sha256 } = content.file;
  const tag = `"${sha256}"`;
  ctx.set("Accept-Ranges", "bytes");
  ctx.set("ETag", tag);
  ctx.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox");
  const known = ctx.get("if-none-match").split(",");
  if (known.some((each) => each.trim().replace(/^W\//, "") === tag)) {
    ctx.status = 304;
    return;
  }
  // An address is for one method.
  const link = ctx.method === "GET" ? await content.link?.() : undefined;
  if (link !== undefined) {
    redirectTo(ctx, link);
    return;
  }
  const condition = ctx.get("if-range");
  // The answer 416, which `readRange` causes, carries this header.
  ctx.set("Content-Range", `bytes */${sizeBytes}`);
  const range = condition === "" || condition === tag ? readRange(ctx.get("range"), sizeBytes) : undefined;
  const { from, to } = range ?? { from: 0, to: sizeBytes - 1 };
  ctx.status = range === undefined ? 200 : 206;
  if (range === undefined) ctx.remove("Content-Range");
  else ctx.set("Content-Range", `bytes ${from}-${to}/${sizeBytes}`);
  ctx.attachment(posix.basename(path), { type: "attachment" });
  ctx.body = Readable.from(content.read(from, to - from + 1), { objectMode: false });
  ctx.type = CONTENT_TYPE;
  ctx.length = to - from + 1;
}

/** The caller repeats the request there, with its range. The address is as good as the content while it counts. */
function redirectTo(ctx: RouteContext, link: string): void {
  ctx.set("Location", link);
  ctx.set("Cache-Control", "no-store");
  ctx.set("Referrer-Policy", "no-referrer");
  ctx.body = null;
  ctx.status = 307;
}
