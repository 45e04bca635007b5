/** Finds entries by what a person types. Pure. */

/** The entries that have all words of `text`, the best first: a name that begins with it, then a word that does. */
export function rankEntries<E extends { readonly name: string }>(entries: readonly E[], text: string): readonly E[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return entries;
  const parts = wanted.split(/\s+/);
  const scored = entries.flatMap((entry) => {
    const name = entry.name.toLowerCase();
    if (!parts.every((part) => name.includes(part))) return [];
    const score = name.startsWith(wanted) ? 0 : name.split(/[\s/_-]+/).some((word) => word.startsWith(wanted)) ? 1 : 2;
    return [{ entry, score }];
  });
  return scored.toSorted((a, b) => a.score - b.score).map(({ entry }) => entry);
}
