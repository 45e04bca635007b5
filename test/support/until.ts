/** A wait on a condition with a deadline, for integration tests. */
import { setTimeout as sleep } from "node:timers/promises";
import { PATIENCE } from "./patience.ts";

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 50;
const LONGEST_BACK_OFF_MS = 1_000;

/**
 * Resolves with the first truthy answer of `condition`. Rejects after `deadlineMs`, stretched by {@link PATIENCE}, with an
 * error that names `what`. The condition is asked every 10 ms at first and every 50 ms after a second. A condition that
 * takes longer than the pause is asked less often, because the processes that it waits for, and other tests, need the
 * processor.
 */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  deadlineMs = 30_000,
): Promise<Exclude<T, false | null | undefined>> {
  const begin = performance.now();
  const withinMs = deadlineMs * PATIENCE;
  for (;;) {
    const asked = performance.now();
    const answer = await condition();
    if (answer) return answer as Exclude<T, false | null | undefined>;
    const now = performance.now();
    if (now > begin + withinMs) throw new Error(`not within ${withinMs} ms: ${what}`);
    const pause = Math.min(FIRST_PAUSE_MS + (now - begin) / 25, LONGEST_PAUSE_MS);
    await sleep(Math.max(pause, Math.min(2 * (now - asked), LONGEST_BACK_OFF_MS)));
  }
}
