/** Measures a JSON text before it is parsed. Parsing, and reporting a mistake, cost many times as much as this scan. */

export interface JsonBounds {
  /** Levels of objects and lists within one another. */
  readonly depth: number;
  /** Members of all objects and items of all lists together. */
  readonly values: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** What a byte outside strings means for the scan. */
const [OTHER, SPACE, SEPARATOR, OPEN, CLOSE, STRING, COLON] = [0, 1, 2, 3, 4, 5, 6] as const;
const MEANING = new Uint8Array(256).fill(OTHER);
for (const [bytes, meaning] of [
  [" \t\n\r", SPACE],
  [",", SEPARATOR],
  ["[{", OPEN],
  ["]}", CLOSE],
  ['"', STRING],
  [":", COLON],
] as const) {
  for (const byte of Buffer.from(bytes)) MEANING[byte] = meaning;
}

export interface JsonMeasure {
  /** The first bound that the text exceeds; undefined when it exceeds none. The scan ends there. */
  readonly exceeded: keyof JsonBounds | undefined;
  /** Members of all objects, also those whose keys an object has twice. */
  readonly members: number;
}

/** Measures a JSON text in UTF-8. What it says of a text that is no JSON is true of the part before the mistake. */
export function measureJson(bytes: Uint8Array, bounds: JsonBounds): JsonMeasure {
  let depth = 0;
  let values = 0;
  let members = 0;
  /** Whether the next value is the first one of its object or list. */
  let isFirst = false;
  for (let at = 0; at < bytes.length; at++) {
    const meaning = MEANING[bytes[at]!]!;
    if (meaning === SPACE) continue;
    if (meaning === COLON) members++;
    const begins = meaning !== CLOSE && isFirst;
    if ((begins || meaning === SEPARATOR) && ++values > bounds.values) return { exceeded: "values", members };
    isFirst = meaning === OPEN;
    if (meaning === OPEN && ++depth > bounds.depth) return { exceeded: "depth", members };
    if (meaning === CLOSE) depth--;
    if (meaning === STRING) at = endOfString(bytes, at);
  }
  return { exceeded: undefined, members };
}

/** The index of the quote that ends the string, or the length of the text. Bytes of longer characters are never a quote. */
function endOfString(bytes: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
