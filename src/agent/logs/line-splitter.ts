/** Splits the bytes of one output stream into lines of text. */

/** Longest line in bytes of UTF-8. The rest of a longer line is cut and counted. */
export const LINE_BYTES = 16 * 1024;

const LF = 0x0a;
const CR = 0x0d;

/** Takes lines in the raw, for a consumer that will read few of them. */
export interface BlockSink {
  /** Asked before each line. */
  takesBlocks(): boolean;
  /** Takes whole lines, each with its line feed. The bytes are valid during the call. */
  add(lines: Buffer): void;
}

/**
 * Splits at line feeds, and removes a carriage return before a line feed. A line is decoded as a whole, so a character
 * may arrive in two chunks. Bytes that are not UTF-8 become U+FFFD. A line of more than {@link LINE_BYTES} ends with `
 * [cut: N bytes]`. Keeps at most one line in memory.
 */
export class LineSplitter {
  readonly #emit: (line: string) => void;
  readonly #blocks: BlockSink | undefined;
  #parts: Buffer[] = [];
  #kept = 0;
  #cut = 0;
  /** The bytes so far end in a carriage return, which belongs to the line unless a line feed follows. */
  #heldReturn = false;

  constructor(emit: (line: string) => void, blocks?: BlockSink) {
    this.#emit = emit;
    this.#blocks = blocks;
  }

  write(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, from)) {
      if (this.#isBetweenLines && this.#blocks?.takesBlocks() === true) {
        const end = chunk.lastIndexOf(LF) + 1;
        this.#blocks.add(chunk.subarray(from, end));
        from = end;
        break;
      }
      if (this.#isBetweenLines && at - from <= LINE_BYTES) {
        // Most lines are in one chunk, and need no copy.
        this.#emit(chunk.toString("utf8", from, chunk[at - 1] === CR && at > from ? at - 1 : at));
      } else {
        this.#take(chunk.subarray(from, at));
        this.#endLine();
      }
      from = at + 1;
    }
    if (from < chunk.length) this.#take(chunk.subarray(from));
  }

  /** Emits the last line when it has no line feed. */
  end(): void {
    if (this.#heldReturn) this.#keep(Buffer.of(CR));
    if (this.#kept > 0) this.#endLine();
  }

  get #isBetweenLines(): boolean {
    return this.#kept === 0 && this.#cut === 0 && !this.#heldReturn;
  }

  #take(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#heldReturn) this.#keep(Buffer.of(CR));
    this.#heldReturn = bytes.at(-1) === CR;
    this.#keep(this.#heldReturn ? bytes.subarray(0, -1) : bytes);
  }

  #keep(bytes: Buffer): void {
    const room = LINE_BYTES - this.#kept;
    if (bytes.length > room) this.#cut += bytes.length - Math.max(room, 0);
    if (room <= 0 || bytes.length === 0) return;
    // Copied, since a view would keep the whole chunk in memory until the line ends.
    this.#parts.push(Buffer.from(bytes.subarray(0, room)));
    this.#kept += Math.min(bytes.length, room);
  }

  #endLine(): void {
    const bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
    const whole = this.#cut > 0 ? withoutBrokenEnd(bytes) : bytes;
    const cut = this.#cut + bytes.length - whole.length;
    this.#parts = [];
    this.#kept = 0;
    this.#cut = 0;
    this.#heldReturn = false;
    this.#emit(cut > 0 ? `${whole.toString("utf8")} [cut: ${cut} bytes]` : whole.toString("utf8"));
  }
}

/** Removes the incomplete character that a cut leaves at the end. */
export function withoutBrokenEnd(bytes: Buffer): Buffer {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && (bytes[start]! & 0xc0) === 0x80) start--;
  const lead = bytes[start]!;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return bytes.length - start < length ? bytes.subarray(0, start) : bytes;
}
