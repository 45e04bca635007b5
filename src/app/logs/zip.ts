/**
 * A ZIP archive as a stream: files of unknown length are compressed as they are read, and nothing of them is kept. The
 * size of each file follows its content. Source: APPNOTE.TXT 6.3.10, sections 4.3 to 4.5, https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
 */
import { pipeline, Readable } from "node:stream";
import { crc32, createDeflateRaw } from "node:zlib";

export interface ZipFile {
  /** Names of folders and of the file, with `/` between them. */
  readonly path: string;
  /** Unix milliseconds. */
  readonly modifiedAt: number;
  /** At most {@link MAX_FILE_BYTES}. */
  readonly content: AsyncIterable<Uint8Array>;
}

/** A file of 4 GiB and more would need a form that older programs do not read from a stream. */
export const MAX_FILE_BYTES = 2 ** 31;

const LOCAL = 0x0403_4b50;
const DESCRIPTOR = 0x0807_4b50;
const CENTRAL = 0x0201_4b50;
const END_64 = 0x0606_4b50;
const LOCATOR_64 = 0x0706_4b50;
const END = 0x0605_4b50;
/** The sizes follow the content, and names are UTF-8. */
const FLAGS = 0x0808;
const DEFLATE = 8;
const VERSION = 20;
const VERSION_64 = 45;
/** Made on Unix, so that the attributes are a Unix mode: a file that its owner writes and everybody reads. */
const MADE_BY = (3 << 8) | VERSION_64;
const MODE = (0o100644 << 16) >>> 0;
const MAX_32 = 0xffff_ffff;
const MAX_16 = 0xffff;

interface Entry {
  readonly name: Buffer;
  readonly time: Buffer;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
}

/** The bytes of an archive of these files, in their order. */
export async function* zipOf(files: AsyncIterable<ZipFile>): AsyncGenerator<Uint8Array, void, void> {
  const entries: Entry[] = [];
  let offset = 0;
  for await (const { path, modifiedAt, content } of files) {
    const name = Buffer.from(path);
    const time = dosTime(modifiedAt);
    const head = Buffer.concat([
      u32(LOCAL),
      u16(VERSION),
      u16(FLAGS),
      u16(DEFLATE),
      time,
      zeros(12),
      u16(name.length),
      u16(0),
      name,
    ]);
    yield head;
    let [crc, size, packed] = [0, 0, 0];
    const counted = async function* () {
      for await (const piece of content) {
        crc = crc32(piece, crc);
        size += piece.length;
        yield piece;
      }
    };
    const deflate = createDeflateRaw();
    // An error of the content ends the compression with that error.
    pipeline(Readable.from(counted(), { objectMode: false }), deflate, () => {});
    for await (const piece of deflate as AsyncIterable<Buffer>) {
      packed += piece.length;
      yield piece;
    }
    yield Buffer.concat([u32(DESCRIPTOR), u32(crc), u32(packed), u32(size)]);
    entries.push({ name, time, crc, packed, size, offset });
    offset += head.length + packed + 16;
  }
  const begin = offset;
  for (const entry of entries) {
    const record = centralRecord(entry);
    offset += record.length;
    yield record;
  }
  yield endOf(entries.length, begin, offset - begin);
}

function centralRecord({ name, time, crc, packed, size, offset }: Entry): Buffer {
  const isFar = offset >= MAX_32;
  const extra = isFar ? Buffer.concat([u16(1), u16(8), u64(offset)]) : zeros(0);
  const sizes = [u32(crc), u32(packed), u32(size), u16(name.length), u16(extra.length), zeros(6)];
  const place = [u32(MODE), u32(isFar ? MAX_32 : offset), name, extra];
  const version = u16(isFar ? VERSION_64 : VERSION);
  return Buffer.concat([u32(CENTRAL), u16(MADE_BY), version, u16(FLAGS), u16(DEFLATE), time, ...sizes, ...place]);
}

function endOf(count: number, begin: number, size: number): Buffer {
  const shortCount = u16(Math.min(count, MAX_16));
  const parts = [
    u32(END),
    zeros(4),
    shortCount,
    shortCount,
    u32(Math.min(size, MAX_32)),
    u32(Math.min(begin, MAX_32)),
    u16(0),
  ];
  if (count < MAX_16 && begin + size < MAX_32) return Buffer.concat(parts);
  const end64 = [
    u32(END_64),
    u64(44),
    u16(MADE_BY),
    u16(VERSION_64),
    zeros(8),
    u64(count),
    u64(count),
    u64(size),
    u64(begin),
  ];
  return Buffer.concat([...end64, u32(LOCATOR_64), u32(0), u64(begin + size), u32(1), ...parts]);
}

/** Two words: the time in steps of two seconds, and the date since 1980, both in UTC. */
function dosTime(timeMs: number): Buffer {
  const at = new Date(Math.max(timeMs, Date.UTC(1980, 0, 1)));
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  return Buffer.concat([u16(time), u16(date & MAX_16)]);
}

function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

const zeros = (length: number) => Buffer.alloc(length);
