/** Lines that begin again: a progress bar writes a carriage return and then its next text over the last one. */

/** Where the text of a line stands that a terminal would show at last, in UTF-16 units. */
export interface ShownPart {
  readonly start: number;
  readonly end: number;
}

/** The last text between carriage returns that is not empty, from `from` on. */
export function shownPart(content: string, from = 0): ShownPart {
  let end = content.length;
  while (end > from && content[end - 1] === "\r") end--;
  return { start: end === from ? from : Math.max(from, content.lastIndexOf("\r", end - 1) + 1), end };
}
