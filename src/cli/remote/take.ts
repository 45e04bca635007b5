/** The first items of a list, and no page that they do not need. */
export async function takeItems<T>(items: AsyncIterable<T>, limit: number): Promise<readonly T[]> {
  const taken: T[] = [];
  for await (const item of items) {
    taken.push(item);
    if (taken.length >= limit) break;
  }
  return taken;
}
