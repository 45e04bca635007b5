/**
 * Finds places in a JSON text: where it stops being JSON, which the engine's own error names only for some mistakes, and where a key
 * stands for the second time, which the engine does not report.
 */

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

/** The first key that stands twice in one object of a text that is JSON: the path to it, and the offset of the second one. */
export function repeatedKey(text: string): { readonly path: readonly PropertyKey[]; readonly offset: number } {
  /** The objects and lists around the offset, from the outermost. `at` is the key or the index in it. */
  const around: { readonly keys: Set<string> | undefined; at: PropertyKey; isKeyNext: boolean }[] = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const [, mark, string] = match;
    const inner = around.at(-1);
    if (mark === "{" || mark === "[") {
      around.push({ keys: mark === "{" ? new Set() : undefined, at: 0, isKeyNext: mark === "{" });
    } else if (mark === "}" || mark === "]") {
      around.pop();
    } else if (mark === "," && inner !== undefined) {
      inner.isKeyNext = inner.keys !== undefined;
      if (inner.keys === undefined) inner.at = Number(inner.at) + 1;
    } else if (string !== undefined && inner?.isKeyNext === true) {
      const key = JSON.parse(string) as string;
      const path = [...around.slice(0, -1).map(({ at }) => at), key];
      if (inner.keys?.has(key) === true) return { path, offset: TOKEN.lastIndex - string.length };
      inner.keys?.add(key);
      inner.at = key;
      inner.isKeyNext = false;
    }
  }
  throw new Error("no key stands twice");
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
