/** Counts how often each word occurs in a text, without regard to case. */
export function countWords(text) {
  const counts = new Map();
  for (const [word] of text.toLowerCase().matchAll(/\p{L}+/gu)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** The `limit` most frequent words. Words of equal frequency are in alphabetical order. */
export function topWords(text, limit) {
  const sorted = [...countWords(text)].sort(([a, left], [b, right]) => right - left || a.localeCompare(b));
  return sorted.slice(0, limit);
}
