/** Texts of a server on a terminal: what could change the terminal or the order of the text is shown as an escape. */

/**
 * Control characters (C0, DEL, C1), the line and paragraph separators, and the characters that change the direction of
 * text or are not seen.
 */
// oxlint-disable-next-line no-control-regex
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** The text on one line, with an escape such as `\u001b` for each character that would not be seen. */
export function visible(text: string): string {
  return text.replace(HIDDEN, escapeOf);
}

/** JSON for programs and terminals alike: `JSON.stringify` leaves some of these characters as they are. */
export function visibleJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replace(HIDDEN, (char) => (char === "\n" ? char : escapeOf(char)));
}

function escapeOf(char: string): string {
  if (char === "\n") return String.raw`\n`;
  if (char === "\t") return String.raw`\t`;
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
