/**
 * What a node does every second. All of it begins in one turn of the event loop, so that the commands on one connection
 * share a write, and the process wakes up once.
 */
import { type Cancel, regularly } from "../src/domain/clock.ts";
const calls = new Set<() => void>();
let cancel: Cancel | undefined;

/**
 * Makes the call every second until the answer is called. A call whose work has not ended is not made again, but at the
 * next second after its end. `work` never rejects.
 */
export function everySecond(work: () => Promise<void>): () => void {
  let isBusy = false;
  const call = (): void => {
    if (isBusy) return;
    isBusy = true;
    void work().finally(() => (isBusy = false));
  };
  calls.add(call);
  cancel ??= regularly(1_000, () => {
    for (const each of calls) each();
  });
  return () => {
    calls.delete(call);
    if (calls.size > 0) return;
    cancel?.();
    cancel = undefined;
  };
}
