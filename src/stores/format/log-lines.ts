/** The lines of a stored log chunk as bytes, compressed or not. */
import { promisify } from "node:util";
import { brotliCompress, brotliDecompress, gunzip, gzip } from "node:zlib";
import type { Compression, LogLine } from "../ports/logs.ts";

type Packed = Exclude<Compression, "none">;

const COMPRESS = { gzip: promisify(gzip), brotli: promisify(brotliCompress) } as const;
const DECOMPRESS = { gzip: promisify(gunzip), brotli: promisify(brotliDecompress) } as const;

export function packLines(lines: readonly LogLine[], compression: Packed): Promise<Buffer> {
  return COMPRESS[compression](JSON.stringify(lines));
}

/** The reverse of {@link packLines}. */
export async function unpackLines(packed: Uint8Array, compression: Packed): Promise<readonly LogLine[]> {
  return JSON.parse((await DECOMPRESS[compression](packed)).toString()) as readonly LogLine[];
}
