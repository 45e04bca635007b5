/** Finds the place where a text stops being JSON. The engine's own error names that place only for some mistakes. */

const TOKEN =
  // oxlint-disable-next-line no-control-regex -- JSON forbids raw control characters in strings
  /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;

type Expected = "value" | "valueOrEnd" | "key" | "keyOrEnd" | "colon" | "commaOrEnd" | "nothing";

/**
 * Offset of the first token that is incomplete or may not stand where it stands; the length of the text when the text ends
 * too early.
 */
export function jsonErrorOffset(text: string): number {
  const open: ("{" | "[")[] = [];
  let expected: Expected = "value";
  let offset = 0;
  const afterValue = (): Expected => (open.length === 0 ? "nothing" : "commaOrEnd");
  for (;;) {
    TOKEN.lastIndex = offset;
    const match = TOKEN.exec(text);
    const start = skipSpace(text, offset);
    if (match === null) return start;
    const [, mark, string] = match;
    const next = follow(expected, mark ?? (string === undefined ? "scalar" : "string"), open, afterValue);
    if (next === undefined) return start;
    expected = next;
    offset = TOKEN.lastIndex;
  }
}

/** What may stand after a token, or undefined when the token may not stand here. */
function follow(
  expected: Expected,
  token: string,
  open: ("{" | "[")[],
  afterValue: () => Expected,
): Expected | undefined {
  const valueMayStand = expected === "value" || expected === "valueOrEnd";
  switch (token) {
    case "{":
    case "[":
      if (!valueMayStand) return undefined;
      open.push(token);
      return token === "{" ? "keyOrEnd" : "valueOrEnd";
    case "}":
    case "]": {
      const empty = token === "}" ? "keyOrEnd" : "valueOrEnd";
      if (open.at(-1) !== (token === "}" ? "{" : "[") || (expected !== empty && expected !== "commaOrEnd"))
        return undefined;
      open.pop();
      return afterValue();
    }
    case ",":
      if (expected !== "commaOrEnd") return undefined;
      return open.at(-1) === "{" ? "key" : "value";
    case ":":
      return expected === "colon" ? "value" : undefined;
    case "string":
      if (expected === "key" || expected === "keyOrEnd") return "colon";
      return valueMayStand ? afterValue() : undefined;
    default:
      return valueMayStand ? afterValue() : undefined;
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && " \t\n\r".includes(text[at]!)) at++;
  return at;
}
