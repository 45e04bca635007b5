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
