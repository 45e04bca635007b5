/** Waits on a condition with a deadline, for integration tests. */
import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds between two looks. */
const LOOK_MS = 10;

/**
 * Resolves with the first truthy answer of `condition`; rejects after `deadlineMs` with what was waited for. Waits between
 * two looks for at least as long as a look takes, so that looking costs no more than half of what there is to spend.
 */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  deadlineMs = 10_000,
): Promise<Exclude<T, false | null | undefined>> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const from = performance.now();
    const answer = await condition();
    if (answer) return answer as Exclude<T, false | null | undefined>;
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await sleep(Math.max(LOOK_MS, performance.now() - from));
  }
}
