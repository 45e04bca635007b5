/** Finds the known word that a misspelt word most probably means. */

/** Bounds on the search: the cost of a distance is the product of both lengths. */
const MAX_WORD_CHARS = 64;
const MAX_KNOWN = 1_000;

/** The nearest of `known` by edit distance, or undefined when none is near. Source: Levenshtein 1966. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > MAX_WORD_CHARS || known.length > MAX_KNOWN) return undefined;
  let best: string | undefined;
  // Two swapped letters are two edits.
  let bestDistance = Math.min(word.length - 1, Math.max(2, Math.floor(word.length / 3))) + 1;
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** A text such as ` (did you mean "steps"?)` for the end of a message; empty when no known word is near. */
export function didYouMean(word: string, known: readonly string[]): string {
  const candidate = nearest(word, known);
  return candidate === undefined ? "" : ` (did you mean "${candidate}"?)`;
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(previous[j]! + 1, current[j - 1]! + 1, substituted));
    }
    previous = current;
  }
  return previous[b.length]!;
}
