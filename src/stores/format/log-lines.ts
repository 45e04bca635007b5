/** The lines of a stored log chunk as bytes, compressed or not. */
import { promisify } from "node:util";
import { brotliCompress, brotliDecompress, constants, gunzip, gunzipSync, gzip, gzipSync } from "node:zlib";
import type { Compression, LogLine } from "../ports/logs.ts";

type Packed = Exclude<Compression, "none">;

/**
 * Up to so many bytes are packed and unpacked at once, in well below a millisecond. More goes to a thread of the pool, which the
 * commits of the store use too, and where the way there and back costs more than a small chunk.
 */
const AT_ONCE_BYTES = 64 * 1024;
/** Higher levels take twice the time for a tenth less. */
const GZIP = { level: constants.Z_BEST_SPEED };
/** Takes less than two thirds of the bytes of gzip at its best, and less time than that. The default takes 50 times as long. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };

const COMPRESS = { gzip: promisify(gzip), brotli: promisify(brotliCompress) } as const;
const DECOMPRESS = { gzip: promisify(gunzip), brotli: promisify(brotliDecompress) } as const;

export async function packLines(lines: readonly LogLine[], compression: Packed): Promise<Buffer> {
  const json = JSON.stringify(lines);
  if (compression === "brotli") return COMPRESS.brotli(json, BROTLI);
  return json.length <= AT_ONCE_BYTES ? gzipSync(json, GZIP) : COMPRESS.gzip(json, GZIP);
}

/** The reverse of {@link packLines}. */
export async function unpackLines(packed: Uint8Array, compression: Packed): Promise<readonly LogLine[]> {
  return JSON.parse((await unpack(packed, compression)).toString()) as readonly LogLine[];
}

/** Logs shrink to a sixth or so. */
const UNPACKED_AT_ONCE = AT_ONCE_BYTES / 4;

async function unpack(packed: Uint8Array, compression: Packed): Promise<Buffer> {
  const isSmall = compression === "gzip" && packed.length <= UNPACKED_AT_ONCE;
  return isSmall ? gunzipSync(packed) : DECOMPRESS[compression](packed);
}
