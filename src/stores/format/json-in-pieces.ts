/** Parses large JSON texts in pieces. `JSON.parse` of some megabytes holds the event loop for tens of milliseconds. */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENING = [0x5b, 0x7b];
const CLOSING = [0x5d, 0x7d];

/** Items that are parsed between two pauses. */
const ITEMS_AT_ONCE = 100;

/**
 * The object in `text`, as `JSON.parse` answers it. Its member `large` is an array, whose items are parsed some at a time;
 * `pause` is awaited between two times.
 */
export async function jsonInPieces<T>(text: string, large: string, pause: () => Promise<void>): Promise<T> {
  const begin = beginOf(text, large);
  if (begin === undefined) return JSON.parse(text) as T;
  const items: unknown[] = [];
  let from = begin;
  let waiting = 0;
  for (let at = begin; ;) {
    at = endOfValue(text, at);
    waiting++;
    const isLast = text.charCodeAt(at) !== COMMA;
    if (isLast || waiting === ITEMS_AT_ONCE) {
      items.push(...(JSON.parse(`[${text.slice(from, at)}]`) as unknown[]));
      waiting = 0;
      from = at + 1;
      await pause();
    }
    if (isLast) return { ...(JSON.parse(text.slice(0, begin) + text.slice(at)) as object), [large]: items } as T;
    at++;
  }
}

/** Where the first item of the array begins that is the object's member `name`; undefined without one. */
function beginOf(text: string, name: string): number | undefined {
  const key = `"${name}":[`;
  for (let at = 1; at < text.length;) {
    if (text.startsWith(key, at)) return at + key.length;
    // Past the name and the value of this member.
    at = endOfValue(text, endOfText(text, at) + 1) + 1;
  }
  return undefined;
}

/** Where the value that begins at `at` ends: the place of the comma or the bracket behind it. */
function endOfValue(text: string, at: number): number {
  for (let depth = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfText(text, at) - 1;
    else if (OPENING.includes(code)) depth++;
    else if (depth === 0 && (code === COMMA || CLOSING.includes(code))) return at;
    else if (CLOSING.includes(code)) depth--;
  }
  return at;
}

/** Where the text ends whose quotation mark is at `at`: the place behind its last mark. */
function endOfText(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); ; end = text.indexOf('"', end + 1)) {
    if (end === -1) return text.length;
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end + 1;
  }
}
