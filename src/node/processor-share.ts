/** How busy this process is. */
import { type Cancel, regularly } from "../domain/clock.ts";

/** Processor time that this process has taken, microseconds. */
export type ProcessorTime = () => number;

/** That of all threads: those for definitions work while the main thread waits for them. */
const ownTime: ProcessorTime = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

/**
 * Tells regularly which share of one processor the process has taken since the last time, or since this call, and the same in
 * milliseconds. The answer ends that; idempotent.
 */
export function watchProcessorShare(
  periodMs: number,
  tell: (share: number, tookMs: number) => void,
  time = ownTime,
): Cancel {
  let lookedAt = performance.now();
  let taken = time();
  return regularly(periodMs, () => {
    const now = performance.now();
    const total = time();
    const tookMs = (total - taken) / 1_000;
    const share = tookMs / (now - lookedAt);
    [lookedAt, taken] = [now, total];
    tell(share, tookMs);
  });
}
