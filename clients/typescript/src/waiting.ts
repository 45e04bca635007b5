/** Waits that a signal ends. */

/** Resolves after `ms`; rejects with the reason of the signal. */
export function wait(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(signal.reason);
      return;
    }
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** How long to wait before attempt `attempt + 1`: a random part of a bound that doubles from 250 ms to `mostMs`. */
export function backoffMs(attempt: number, mostMs: number, random: () => number = Math.random): number {
  const bound = Math.min(mostMs, 250 * 2 ** (attempt - 1));
  return bound / 2 + (random() * bound) / 2;
}
