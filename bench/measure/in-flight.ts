/** Keeps a number of operations in flight. */

/**
 * Calls `start` for 0 to `count - 1`, with at most `limit` operations in flight: when one ends, the next starts.
 * Resolves when all have ended. Rejects with the first failure, and then starts no further operation.
 */
export async function keepInFlight(
  count: number,
  limit: number,
  start: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  async function lane(): Promise<void> {
    try {
      while (next < count) await start(next++);
    } catch (error) {
      next = count;
      throw error;
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, count) }, lane));
}
