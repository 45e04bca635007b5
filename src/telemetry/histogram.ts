/** Durations, counted in fixed buckets. Counting one is a few additions, and allocates nothing: it is on the way of every call. */

/** How many durations there were, by upper bound, and their sum. */
export class Histogram {
  /** Upper bounds of the buckets, seconds, ascending. */
  readonly bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  /** `times`: how many durations of this length there were. */
  observe(seconds: number, times = 1): void {
    const { bounds } = this;
    let at = 0;
    while (at < bounds.length && seconds > bounds[at]!) at++;
    this.#counts[at]! += times;
    this.#sum += seconds * times;
  }

  /** Seconds. */
  get sum(): number {
    return this.#sum;
  }

  get count(): number {
    return this.#counts.reduce((total, count) => total + count, 0);
  }

  /** How many durations are at most as long as each bound. */
  get upTo(): readonly number[] {
    let total = 0;
    return this.bounds.map((_, at) => (total += this.#counts[at]!));
  }
}
