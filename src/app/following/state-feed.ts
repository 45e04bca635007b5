/**
 * A state feed: the newest state of many objects, as this process knows it, in the order of its changes. It is no log: a
 * follower who takes changes more slowly than they happen gets only the newest state of each object, and no order across
 * objects is promised. Hints from other nodes say sooner what the store says every few seconds, so a feed survives the
 * loss of every hint.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { MillraceError } from "../../domain/errors.ts";
import type { Clock } from "../../domain/clock.ts";
import type { Logger } from "../../domain/logger.ts";
import type { Unsubscribe } from "../../feed/feed.ts";
import { loopShare } from "../loop-share.ts";
import type { Signal } from "../signal.ts";
import { StateLog, type StateChange } from "./state-log.ts";

/** Between the starts of two reads of the store, unless a read takes so long that it would take a tenth of the time. */
const READ_MS = 5_000;
const READ_SHARE = 10;
/** A feed without followers is kept up to date for this long, so that a follower who comes back can resume. */
const LINGER_MS = 30_000;
/**
 * Between two changes of an object for its followers: three a second. The change that ends the object comes at once, so an
 * object changes at most four times a second.
 */
const COALESCE_MS = 334;

/** Where the states of one kind of object come from. */
export interface StateSource<T> {
  keyOf(state: T): string;
  /** Grows with each change of the object: of two states, the one with the lower version is older. */
  versionOf(state: T): number;
  /** True for a state that the object keeps. */
  isOver(state: T): boolean;
  isSame(one: T, other: T): boolean;
  /**
   * The states of all objects that are not over, page by page; besides, in any order, those of objects that have begun
   * since `since`, Unix milliseconds, and are over. Of these, those may be left out for whose key `isKnown` is true: the feed
   * knows that they are over.
   */
  readLive(since: number | null, isKnown: (key: string) => boolean): AsyncIterable<readonly T[]>;
  /** The state of the object as it is stored now; undefined when it was deleted. */
  readOne(known: T): Promise<T | undefined>;
  /** Calls `heard` with what other nodes tell, until the answer is called. */
  listen(heard: (state: T) => void): Promise<Unsubscribe>;
}

type FeedContext = { readonly clock: Clock; readonly log: Logger };

/** The states of all objects of one kind, for all who follow them in this process. */
export class StateFeed<T> {
  readonly #context: FeedContext;
  readonly #source: StateSource<T>;
  /** Part of each revision, since the numbers of one process mean nothing to another. */
  readonly #epoch = randomUUID().slice(0, 8);
  readonly #log: StateLog<T>;
  readonly #followers = new Set<Signal>();
  /** States that wait, because their objects have changed a moment ago. */
  readonly #held = new Map<string, T>();
  #isReleasing = false;
  #isWatching = false;
  /** Resolves with the first complete read. */
  #complete: Promise<void> | undefined;
  #idleSince = 0;

  constructor(context: FeedContext, source: StateSource<T>) {
    this.#context = context;
    this.#source = source;
    this.#log = new StateLog((state) => source.isOver(state));
  }

  /**
   * Raises `changed` when there may be changes, until {@link leave}. Rejects with `unavailable` when the store cannot be
   * read now.
   */
  async join(changed: Signal): Promise<void> {
    this.#followers.add(changed);
    if (!this.#isWatching) this.#watch();
    try {
      await this.#complete;
    } catch (error) {
      this.leave(changed);
      this.#context.log.debug({ error: String(error) }, "a state feed cannot begin");
      throw new MillraceError("unavailable", "the states cannot be read now: try again", { cause: error });
    }
  }

  leave(changed: Signal): void {
    this.#followers.delete(changed);
    this.#idleSince = this.#context.clock.monotonic();
  }

  /** Changes after that number, in the order of their numbers, at most one for each object and at most `limit`. */
  since(number: number, limit: number): readonly StateChange<T>[] {
    return this.#log.since(number, limit);
  }

  revisionOf(number: number): string {
    return `${this.#epoch}.${number}`;
  }

  /** The number of a revision; undefined when this process cannot tell all that has changed since. */
  numberOf(revision: string): number | undefined {
    const [, epoch, digits] = /^(\w+)\.(\d{1,15})$/.exec(revision) ?? [];
    const number = Number(digits);
    return epoch === this.#epoch && this.#log.reachesBackTo(number) ? number : undefined;
  }

  #watch(): void {
    this.#isWatching = true;
    let isComplete = (): void => {};
    let fails = (_error: unknown): void => {};
    this.#complete = new Promise((resolve, reject) => {
      isComplete = resolve;
      fails = reject;
    });
    // Every follower may be gone when it fails.
    this.#complete.catch(() => {});
    this.#keepUp(isComplete).catch(fails);
  }

  async #keepUp(isComplete: () => void): Promise<void> {
    const { clock, log } = this.#context;
    let leave: Unsubscribe | undefined;
    let since: number | null = null;
    let isFirst = true;
    try {
      do {
        const [begunAt, wallAt] = [clock.monotonic(), clock.now()];
        try {
          // What is published before the subscription is in the store, which is read after it.
          leave ??= await this.#listen();
          await this.#readAll(since);
          since = wallAt;
          isComplete();
          isFirst = false;
        } catch (error) {
          if (isFirst) throw error;
          log.debug({ error: String(error) }, "a state feed cannot read the store: the last known states stay");
        }
        const tookMs = clock.monotonic() - begunAt;
        await sleep(Math.max(READ_MS, READ_SHARE * tookMs) - tookMs, undefined, { ref: false });
      } while (this.#followers.size > 0 || clock.monotonic() - this.#idleSince < LINGER_MS);
    } finally {
      // The next follower begins with a complete read, which tells what has changed meanwhile.
      this.#isWatching = false;
      await leave?.().catch(() => {});
    }
  }

  /** Without the broker, the store tells everything. */
  async #listen(): Promise<Unsubscribe | undefined> {
    try {
      return await this.#source.listen((state) => this.#tell(state));
    } catch (error) {
      this.#context.log.debug({ error: String(error) }, "a state feed hears no hints: it reads the store");
      return undefined;
    }
  }

  async #readAll(since: number | null): Promise<void> {
    const unseen = this.#log.liveKeys();
    const isKnown = (key: string): boolean => this.#log.isOver(key);
    for await (const page of this.#source.readLive(since, isKnown)) {
      for (const state of page) {
        unseen.delete(this.#source.keyOf(state));
        this.#tell(state);
      }
      await loopShare.enter();
    }
    for (const key of unseen) {
      const known = this.#log.get(key);
      if (known === undefined || this.#source.isOver(known.state)) continue;
      const now = await this.#source.readOne(known.state);
      if (now !== undefined) this.#tell(now);
      else this.#record(known.state, true);
    }
  }

  #tell(state: T): void {
    const source = this.#source;
    const key = source.keyOf(state);
    const held = this.#held.get(key);
    const known = held ?? this.#log.get(key)?.state;
    if (known !== undefined && this.#isNoNews(known, state)) return;
    const last = this.#log.get(key);
    const isEnd = source.isOver(state) && (last === undefined || !source.isOver(last.state));
    const isDue = this.#context.clock.monotonic() - (last?.changedAt ?? Number.NEGATIVE_INFINITY) >= COALESCE_MS;
    if (!isEnd && (held !== undefined || !isDue)) {
      this.#hold(key, state);
      return;
    }
    this.#held.delete(key);
    this.#record(state, false);
  }

  #isNoNews(known: T, state: T): boolean {
    const source = this.#source;
    return source.versionOf(state) < source.versionOf(known) || source.isSame(known, state);
  }

  #hold(key: string, state: T): void {
    this.#held.set(key, state);
    if (this.#isReleasing) return;
    this.#isReleasing = true;
    setTimeout(() => this.#release(), COALESCE_MS).unref();
  }

  #release(): void {
    this.#isReleasing = false;
    const now = this.#context.clock.monotonic();
    for (const [key, state] of Array.from(this.#held)) {
      this.#held.delete(key);
      const changedAt = this.#log.get(key)?.changedAt ?? Number.NEGATIVE_INFINITY;
      if (now - changedAt >= COALESCE_MS) this.#record(state, false);
      else this.#hold(key, state);
    }
  }

  #record(state: T, isRemoved: boolean): void {
    const { clock } = this.#context;
    this.#log.record(this.#source.keyOf(state), { state, isRemoved, changedAt: clock.monotonic() });
    for (const changed of this.#followers) changed.raise();
  }
}
