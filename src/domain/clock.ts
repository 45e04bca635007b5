/** The one way to read time: injected, so that tests and pure code never touch the wall clock. */
export interface Clock {
  /** Milliseconds since the Unix epoch; may jump. */
  now(): number;
  /** Milliseconds of a clock that never jumps; only differences have a meaning. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** The one way to wait: injected, so that a simulation can decide when time passes. */
export interface Timers {
  /** Calls `run` once after `ms` milliseconds. The answer cancels the call; idempotent. */
  after(ms: number, run: () => void): Cancel;
}

export type Cancel = () => void;

/** The longest delay that a timer of Node takes, about 24 days. For a longer one it fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemTimers: Timers = {
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * The milliseconds until the next multiple of `periodMs` of the monotonic clock `now`; up to a tenth more, so that a
 * timer that fires early does not fire twice. What a process does regularly begins with this delay: then it begins in the
 * same moment, and the process wakes up less often.
 */
export function untilNext(periodMs: number, now: number): number {
  const leftMs = periodMs - (now % periodMs);
  return Math.ceil(leftMs < periodMs / 10 ? leftMs + periodMs : leftMs);
}

/** Calls `run` at every multiple of `periodMs`, as {@link untilNext} describes. The answer ends that; idempotent. */
export function regularly(periodMs: number, run: () => void): Cancel {
  const next = (): Cancel =>
    systemTimers.after(untilNext(periodMs, systemClock.monotonic()), () => {
      cancel = next();
      run();
    });
  let cancel = next();
  return () => cancel();
}

/** Resolves after `ms` milliseconds, or as soon as `signal` is aborted. */
export function pause(timers: Timers, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const cancel = timers.after(ms, end);
    signal?.addEventListener("abort", end);
  });
}
