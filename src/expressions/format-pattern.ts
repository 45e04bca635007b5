/** Reads the patterns of `format`: `{0}` is the first value, `{{` and `}}` are braces. */

/** The parts of a pattern, with a number for each placeholder; null for a pattern with a single brace. */
export function readPattern(pattern: string): readonly (string | number)[] | null {
  const parts: (string | number)[] = [];
  let from = 0;
  // Text after the number of a placeholder is ignored. The look-ahead keeps the search linear when no brace closes.
  for (const match of pattern.matchAll(/\{\{|\}\}|\{(\d+)(?!\d)[^}]*\}|[{}]/g)) {
    const [token, index] = match;
    if (token === "{" || token === "}") return null;
    parts.push(pattern.slice(from, match.index), index === undefined ? token.slice(1) : Number(index));
    from = match.index + token.length;
  }
  return [...parts, pattern.slice(from)].filter((part) => part !== "");
}
