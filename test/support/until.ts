/** A wait on a condition with a deadline, for integration tests. */
import { setTimeout as sleep } from "node:timers/promises";

/** Resolves with the first truthy answer of `condition`. Rejects after `deadlineMs` with an error that names `what`. */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  deadlineMs = 10_000,
): Promise<Exclude<T, false | null | undefined>> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const answer = await condition();
    if (answer) return answer as Exclude<T, false | null | undefined>;
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await sleep(10);
  }
}
