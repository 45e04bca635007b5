/**
 * The newest lines of a log that has reached its limit: a ring of blocks, the newest in memory and older ones in files.
 * A block holds whole lines as the step wrote them, masked. Lines are cut out of the blocks only when the ring is read,
 * so that a step which writes without end costs little more than the copying of its bytes.
 */
import { randomUUID } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LogStream } from "../../../proto/generated/gateway/v1/gateway.ts";
import { LineSplitter } from "./line-splitter.ts";

/** Memory of the blocks of one ring. Beyond it, the oldest move to a file. */
const MEMORY_BYTES = 256 * 1024;
/** Approximate memory of a block in addition to its bytes. */
const BLOCK_BYTES = 128;
const LF = 0x0a;

/** Lines of one stream that arrived together. */
export interface LineBlock {
  readonly stream: LogStream;
  /** Unix milliseconds. */
  readonly timeMs: number;
  /** Whole lines, each with its line feed. */
  readonly bytes: Buffer;
  readonly lines: number;
  /** True for a single line whose text is cut already. */
  readonly isCut?: boolean;
}

/** A line of the ring. */
export interface TailLine {
  readonly stream: LogStream;
  readonly timeMs: number;
  readonly content: string;
}

/** Blocks in a file: the index of the blocks stays in memory. */
interface Part {
  readonly file: string;
  readonly bytes: number;
  readonly lines: number;
  readonly blocks: readonly (Omit<LineBlock, "bytes"> & { readonly length: number })[];
}

export interface LogTailOptions {
  /** For the files, which only this user can read. The owner of the folder removes what is left in it. */
  readonly folder: string;
  /** How many of the newest lines are kept, and about how many bytes of them. */
  readonly lines: number;
  readonly bytes: number;
}

export class LogTail {
  readonly #options: LogTailOptions;
  /** Older than all blocks in memory, ascending. */
  #parts: Part[] = [];
  #blocks: LineBlock[] = [];
  #lines = 0;
  #memoryBytes = 0;
  #diskBytes = 0;

  constructor(options: LogTailOptions) {
    this.#options = options;
  }

  /** Size of the files. */
  get diskBytes(): number {
    return this.#diskBytes;
  }

  /** Adds lines, and forgets the oldest. `diskRoom` is how many bytes the files may take together. */
  add(block: LineBlock, diskRoom: number): void {
    const kept = newestOf(block, this.#options.lines);
    this.#blocks.push(kept);
    this.#lines += kept.lines;
    this.#memoryBytes += costOf(kept);
    this.#forgetOldest();
    if (this.#memoryBytes <= MEMORY_BYTES) return;
    this.#moveToDisk(diskRoom);
  }

  /**
   * The lines of the ring, oldest first, and removes the ring. The lines of a file that cannot be read are missing, and
   * all lines before them, so that what is left has no holes.
   */
  take(): TailLine[] {
    let blocks: LineBlock[] = [];
    for (const part of this.#parts) {
      const read = readPart(part);
      blocks = read === undefined ? [] : [...blocks, ...read];
    }
    const lines = [...blocks, ...this.#blocks].flatMap(linesOf);
    this.dispose();
    let [from, bytes] = [lines.length, 0];
    while (from > 0 && lines.length - from < this.#options.lines) {
      bytes += Buffer.byteLength(lines[from - 1]!.content);
      if (bytes > this.#options.bytes) break;
      from--;
    }
    return lines.slice(from);
  }

  /** Removes the files. */
  dispose(): void {
    for (const part of this.#parts.splice(0)) this.#remove(part);
    this.#blocks = [];
    this.#lines = 0;
    this.#memoryBytes = 0;
  }

  /** Forgets what is not needed for the newest lines. */
  #forgetOldest(): void {
    const most = this.#options.lines;
    while (this.#parts.length > 0 && this.#lines - this.#parts[0]!.lines >= most) this.#forgetPart();
    if (this.#parts.length > 0) return;
    while (this.#blocks.length > 1 && this.#lines - this.#blocks[0]!.lines >= most) this.#forgetBlock();
  }

  /** Moves the blocks in memory to a file. If they do not fit, or the disk takes no file, the oldest are forgotten. */
  #moveToDisk(roomBytes: number): void {
    const content = Buffer.concat(this.#blocks.map(({ bytes }) => bytes));
    const isTooMuch = (bytes: number): boolean =>
      // A file is forgotten as a whole, so one that the bound cuts through is kept.
      bytes > roomBytes || bytes - this.#parts[0]!.bytes >= this.#options.bytes;
    while (this.#parts.length > 0 && isTooMuch(this.#diskBytes + content.length)) this.#forgetPart();
    const file = join(this.#options.folder, `tail-${randomUUID()}`);
    try {
      if (content.length > roomBytes) throw new Error("there is no room");
      writeFileSync(file, content, { mode: 0o600, flag: "wx" });
    } catch {
      rmSync(file, { force: true });
      // The lines before the forgotten ones go with them, because what is left must have no holes.
      while (this.#parts.length > 0) this.#forgetPart();
      while (this.#memoryBytes > MEMORY_BYTES / 2 && this.#blocks.length > 1) this.#forgetBlock();
      return;
    }
    const blocks = this.#blocks.map(({ bytes, ...block }) => ({ ...block, length: bytes.length }));
    const lines = blocks.reduce((sum, block) => sum + block.lines, 0);
    this.#parts.push({ file, bytes: content.length, lines, blocks });
    this.#diskBytes += content.length;
    this.#blocks = [];
    this.#memoryBytes = 0;
  }

  #forgetPart(): void {
    const part = this.#parts.shift()!;
    this.#lines -= part.lines;
    this.#remove(part);
  }

  #forgetBlock(): void {
    const block = this.#blocks.shift()!;
    this.#lines -= block.lines;
    this.#memoryBytes -= costOf(block);
  }

  #remove(part: Part): void {
    rmSync(part.file, { force: true });
    this.#diskBytes -= part.bytes;
  }
}

/** How many lines end in these bytes. */
export function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === LF) count++;
  return count;
}

/** A copy of the block, without the lines that are older than the newest `lines`. */
function newestOf(block: LineBlock, lines: number): LineBlock {
  let from = 0;
  if (block.lines > lines) {
    from = block.bytes.length - 1;
    for (let left = lines; left > 0; left--) from = block.bytes.lastIndexOf(LF, from - 1);
    from++;
  }
  // A copy, since a view would keep the buffer of the whole chunk in memory.
  return { ...block, bytes: Buffer.from(block.bytes.subarray(from)), lines: Math.min(block.lines, lines) };
}

/** Undefined when the file cannot be read or has changed. */
function readPart({ file, bytes, blocks }: Part): LineBlock[] | undefined {
  try {
    const content = readFileSync(file);
    if (content.length !== bytes) return undefined;
    let at = 0;
    return blocks.map(({ length, ...block }) => ({ ...block, bytes: content.subarray(at, (at += length)) }));
  } catch {
    return undefined;
  }
}

function linesOf({ stream, timeMs, bytes, isCut }: LineBlock): TailLine[] {
  if (isCut === true) return [{ stream, timeMs, content: bytes.toString("utf8", 0, bytes.length - 1) }];
  const lines: TailLine[] = [];
  const splitter = new LineSplitter((content) => lines.push({ stream, timeMs, content }));
  splitter.write(bytes);
  return lines;
}

function costOf({ bytes }: LineBlock): number {
  return BLOCK_BYTES + bytes.length;
}
