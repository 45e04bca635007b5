/** Keeps a number of operations under way. */

/**
 * Calls `begin` for 0 to `count - 1`, with `limit` under way: as one ends the next begins. Resolves when all have ended;
 * after a rejection nothing new begins.
 */
export async function keepInFlight(
  count: number,
  limit: number,
  begin: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  async function lane(): Promise<void> {
    try {
      while (next < count) await begin(next++);
    } catch (error) {
      next = count;
      throw error;
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, count) }, lane));
}
