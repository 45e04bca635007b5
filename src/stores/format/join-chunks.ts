/** Which small chunks of a log are joined into one, and the lines of that one. */
import { isSmall, lastLineOf, type LogLine } from "../ports/logs.ts";

/** Bounds of a joined chunk, which ends with the small chunk that reaches one of them. A reader of one line unpacks them all. */
const MAX_LINES = 1_000;
const MAX_CHARS = 1 << 18;

/** A stored chunk on the way to a joined one. */
export interface JoinPart {
  readonly first: number;
  readonly last: number;
  /** Entries in the chunk; null for a chunk without a header, which is not joined. */
  readonly count: number | null;
  /** Bytes that its lines take in the store. */
  readonly bytes: number;
  /** Its lines, unpacked. */
  readonly lines: () => Promise<readonly LogLine[]>;
}

export type Join<Part> =
  /** The chunk of these lines, each once, takes the place of two or more chunks in a row. */
  | { readonly lines: readonly LogLine[]; readonly of: Part }
  /** The chunk is there, and the chunks before it that it holds were not all deleted. */
  | { readonly whole: Part };

/** The first join of these chunks, which come by their last line; undefined when there is none. */
export async function nextJoin<Part extends JoinPart>(parts: AsyncIterable<Part>): Promise<Join<Part> | undefined> {
  let row = new Row<Part>();
  for await (const part of parts) {
    if (row.isWithin(part)) return { whole: part };
    const own = part.count !== null && isSmall({ lines: part.count, bytes: part.bytes }) ? await part.lines() : [];
    const isJoined = own.length > 0 && !isGapAlone(own);
    if (!isJoined || row.isBelow(part)) {
      if (row.isWorth) break;
      row = new Row();
    }
    if (!isJoined) continue;
    row.add(part, own);
    if (!row.isFull) continue;
    if (row.isWorth) break;
    row = new Row();
  }
  return row.isWorth ? { lines: row.lines, of: row.first! } : undefined;
}

class Row<Part extends JoinPart> {
  readonly lines: LogLine[] = [];
  first: Part | undefined;
  #chunks = 0;
  #chars = 0;

  get isWorth(): boolean {
    return this.#chunks > 1;
  }

  get isFull(): boolean {
    return this.lines.length >= MAX_LINES || this.#chars >= MAX_CHARS;
  }

  add(part: Part, lines: readonly LogLine[]): void {
    this.first ??= part;
    this.#chunks++;
    for (const line of lines) {
      if (lastLineOf(line) <= this.#end) continue;
      this.lines.push(line);
      this.#chars += line.content.length;
    }
  }

  /** The part, which ends behind the row, begins with it or before it. */
  isWithin({ first, count }: Part): boolean {
    return this.#chunks > 0 && first <= this.lines[0]!.line && count !== null;
  }

  /** There are lines between the row and the part, which are in a chunk that ends later. */
  isBelow({ first }: Part): boolean {
    return this.#chunks > 0 && first > this.#end + 1;
  }

  get #end(): number {
    const last = this.lines.at(-1);
    return last === undefined ? 0 : lastLineOf(last);
  }
}

/** The newest one of a log may still grow. */
function isGapAlone(lines: readonly LogLine[]): boolean {
  return lines.length === 1 && lines[0]!.lost > 0;
}
