/** The newest change of each object of a state feed, in the order of the changes. */

/** Objects that are over and remembered. */
const KEPT_OVER = 10_000;
/** Superseded entries that may wait until the log is cleaned. */
const SLACK = 1_000;

export interface StateChange<T> {
  /** Grows with each change of any object. */
  readonly number: number;
  readonly state: T;
  /** The object is deleted; `state` is the last one that was known. */
  readonly isRemoved: boolean;
  /** Monotonic milliseconds. */
  readonly changedAt: number;
}

export class StateLog<T> {
  readonly #isOver: (state: T) => boolean;
  /** The newest change of each object. */
  readonly #newest = new Map<string, StateChange<T>>();
  /** All changes by number, with those that later ones have superseded. */
  #changes: { readonly key: string; readonly change: StateChange<T> }[] = [];
  /** Keys of objects that are over or removed, oldest first. */
  readonly #over = new Set<string>();
  /** Removes what it passes. A new iterator would look at the place of each entry that was removed before. */
  readonly #oldestOver = this.#over.values();
  #number = 0;
  /** Changes up to this number may be forgotten. */
  #forgotten = 0;

  constructor(isOver: (state: T) => boolean) {
    this.#isOver = isOver;
  }

  get(key: string): StateChange<T> | undefined {
    return this.#newest.get(key);
  }

  /** Keys of the objects that are not over, in a set of its own. */
  liveKeys(): Set<string> {
    return new Set([...this.#newest.keys()].filter((key) => !this.#over.has(key)));
  }

  /** True for an object whose newest known state is one that it keeps. */
  isOver(key: string): boolean {
    const newest = this.#newest.get(key);
    return newest !== undefined && !newest.isRemoved && this.#isOver(newest.state);
  }

  record(key: string, news: Omit<StateChange<T>, "number">): void {
    const change = { ...news, number: ++this.#number };
    this.#newest.set(key, change);
    this.#changes.push({ key, change });
    if (news.isRemoved || this.#isOver(news.state)) {
      this.#over.delete(key);
      this.#over.add(key);
      if (this.#over.size > KEPT_OVER) this.#forget(this.#oldestOver.next().value!);
    }
    if (this.#changes.length > 2 * this.#newest.size + SLACK) {
      this.#changes = this.#changes.filter((one) => this.#isNewest(one));
    }
  }

  /** Changes after that number that no later one has superseded, at most `limit`, in the order of their numbers. */
  since(number: number, limit: number): readonly StateChange<T>[] {
    const found: StateChange<T>[] = [];
    for (let at = this.#placeAfter(number); at < this.#changes.length && found.length < limit; at++) {
      const one = this.#changes[at]!;
      if (this.#isNewest(one)) found.push(one.change);
    }
    return found;
  }

  /** True when {@link since} that number is complete. */
  reachesBackTo(number: number): boolean {
    return number >= this.#forgotten && number <= this.#number;
  }

  #isNewest({ key, change }: { readonly key: string; readonly change: StateChange<T> }): boolean {
    return this.#newest.get(key) === change;
  }

  #forget(key: string): void {
    this.#forgotten = Math.max(this.#forgotten, this.#newest.get(key)!.number);
    this.#newest.delete(key);
    this.#over.delete(key);
  }

  /** Index of the first change with a larger number. */
  #placeAfter(number: number): number {
    let [low, high] = [0, this.#changes.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#changes[middle]!.change.number > number) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
