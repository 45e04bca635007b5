/** Bytes of one output stream to lines of text. */

/** Longest line in bytes of UTF-8; what is beyond is cut and counted. */
export const LINE_BYTES = 16 * 1024;

const LF = 0x0a;
const CR = 0x0d;

/**
 * Splits at line feeds; a carriage return before one goes away. Lines are decoded as a whole, so a character that
 * arrives in two chunks is whole, and bytes that are no UTF-8 become U+FFFD. A line of more than {@link LINE_BYTES} ends
 * with ` [cut: N bytes]`. Keeps at most one line in memory.
 */
export class LineSplitter {
  readonly #emit: (line: string) => void;
  #parts: Buffer[] = [];
  #kept = 0;
  #cut = 0;
  /** A carriage return at the end of what came so far: part of the line unless a line feed follows. */
  #heldReturn = false;

  constructor(emit: (line: string) => void) {
    this.#emit = emit;
  }

  write(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, from)) {
      this.#take(chunk.subarray(from, at));
      this.#endLine();
      from = at + 1;
    }
    if (from < chunk.length) this.#take(chunk.subarray(from));
  }

  /** Emits the last line when it has no line feed. */
  end(): void {
    if (this.#heldReturn) this.#keep(Buffer.of(CR));
    if (this.#kept > 0) this.#endLine();
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
    // A view would keep the whole chunk in memory for as long as the line is open.
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

/** Without the bytes of a character that the cut has split. */
function withoutBrokenEnd(bytes: Buffer): Buffer {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && (bytes[start]! & 0xc0) === 0x80) start--;
  const lead = bytes[start]!;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return bytes.length - start < length ? bytes.subarray(0, start) : bytes;
}
