/** Compression of JSON answers, for callers who ask for it. */
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import type { Middleware } from "koa";
import type { RequestState } from "../request/state.ts";

const compress = promisify(gzip);

/** A shorter answer fits into a packet or two as it is. */
const LEAST_BYTES = 2_048;
/** A longer answer would hold a thread of the pool, which the commits of the store use too, for a tenth of a second. */
const MOST_BYTES = 8 * 1_024 * 1_024;
/** Answers that are compressed at a time; the pool has four threads. Further answers are sent as they are. */
const AT_ONCE = 2;

/** Sends JSON answers of some size in gzip. The event loop does not compress. */
export function compressJson(): Middleware<RequestState> {
  let inHand = 0;
  return async (ctx, next) => {
    await next();
    const { body } = ctx;
    if (ctx.res.hasHeader("Content-Encoding")) return;
    const isJson = Buffer.isBuffer(body) ? ctx.response.is("json", "html") !== false : isPlain(body);
    if (!isJson) return;
    ctx.vary("Accept-Encoding");
    if (ctx.method === "HEAD" || inHand >= AT_ONCE || !takesGzip(ctx.get("accept-encoding"))) return;
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
    if (!Buffer.isBuffer(body)) {
      const { type } = ctx;
      ctx.body = bytes;
      ctx.type = type === "" ? "json" : type;
    }
    if (bytes.length < LEAST_BYTES || bytes.length > MOST_BYTES) return;
    inHand++;
    try {
      const packed = await compress(bytes, { level: constants.Z_BEST_SPEED });
      ctx.body = packed;
      ctx.set("Content-Encoding", "gzip");
    } finally {
      inHand--;
    }
  };
}

function isPlain(body: unknown): boolean {
  return typeof body === "object" && body !== null && !("pipe" in body);
}

/** Whether `Accept-Encoding` admits gzip. */
export function takesGzip(header: string): boolean {
  return takesCoding(header, "gzip");
}

/** Source: RFC 9110, section 12.5.3. Each coding may have a weight, and the weight 0 refuses it. */
export function takesCoding(header: string, coding: "gzip" | "br"): boolean {
  if (header === "") return false;
  const weights = new Map(
    header.split(",").map((part) => {
      const [name = "", weight = ""] = part.split(";");
      return [name.trim().toLowerCase(), Number(/q=([\d.]+)/.exec(weight)?.[1] ?? 1)] as const;
    }),
  );
  return (weights.get(coding) ?? weights.get("*") ?? 0) > 0;
}
