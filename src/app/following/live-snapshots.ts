/**
 * Snapshots of runs in the hands of those who begin to follow them. A reader takes a snapshot at its own pace, so the
 * readers of one large run share it: events after it bring each of them to the same state. What all readers of a node have in
 * hand is bounded.
 */
import { MillraceError } from "../../domain/errors.ts";
import type { RunId } from "../../domain/ids.ts";
import { Holds } from "../../domain/work/holds.ts";
import type { Caller } from "../identity/access.ts";
import { holderOf } from "../identity/holder.ts";
import { authoriseOnRun } from "../reaching.ts";
import type { RunsContext } from "../runs/context.ts";
import { Signal } from "../signal.ts";
import { type LiveSnapshot, readLiveSnapshot } from "./run-snapshot.ts";

export interface SnapshotBounds {
  /** Characters in the hands of all readers, and of those of one caller, before a further snapshot waits. */
  readonly chars: number;
  readonly charsOfCaller: number;
  /** How long a reader waits for room, milliseconds. */
  readonly waitMs: number;
}

const BOUNDS: SnapshotBounds = { chars: 64 << 20, charsOfCaller: 16 << 20, waitMs: 30_000 };
/** A snapshot that is older is not given to a further reader, */
const FRESH_MS = 2_000;
/** unless so many of the run are in the hands of slow readers. */
const MOST_OF_RUN = 2;
const RETRY_SECONDS = 1;

interface Held {
  readonly runId: RunId;
  readonly snapshot: LiveSnapshot;
  readonly madeAt: number;
  /** How many readers of each caller have not taken all of it. */
  readonly takers: Holds;
}

export class LiveSnapshots {
  readonly #context: RunsContext;
  readonly #bounds: SnapshotBounds;
  /** In the order in which they were made. */
  readonly #held = new Set<Held>();
  /** Readers that wait for room. */
  readonly #waiting = new Set<Signal>();

  constructor(context: RunsContext, bounds: Partial<SnapshotBounds> = {}) {
    this.#context = context;
    this.#bounds = { ...BOUNDS, ...bounds };
  }

  /** Characters of the snapshots that readers have in hand; those of a shared one count once. */
  get chars(): number {
    return charsOf(this.#held);
  }

  /**
   * A snapshot of the run. `over` must fire when the reader has taken all of it or is gone. Throws `not_found`, and
   * `too_many` when there is no room for long.
   */
  async take(caller: Caller, runId: RunId, over: AbortSignal): Promise<LiveSnapshot> {
    await authoriseOnRun(this.#context, caller, "readRuns", runId);
    const holder = holderOf(caller);
    const { clock } = this.#context;
    const waitsUntil = clock.monotonic() + this.#bounds.waitMs;
    const room = new Signal();
    try {
      for (;;) {
        over.throwIfAborted();
        const shared = this.#find(runId);
        if (shared !== undefined) return this.#hand(runId, shared, holder, over);
        try {
          this.#requireRoom(holder);
          return this.#hand(runId, await this.#make(caller, runId, over), holder, over);
        } catch (error) {
          const isBusy = error instanceof MillraceError && error.reason === "too_many";
          if (!isBusy || clock.monotonic() >= waitsUntil) throw error;
          this.#waiting.add(room);
          await room.wait(error.retryAfterSeconds * 1_000, over);
        }
      }
    } finally {
      this.#waiting.delete(room);
    }
  }

  #find(runId: RunId): LiveSnapshot | undefined {
    const ofRun = [...this.#held].filter((held) => held.runId === runId && held.snapshot.isShared);
    const newest = ofRun.at(-1);
    if (newest === undefined) return undefined;
    const isFresh = this.#context.clock.monotonic() - newest.madeAt < FRESH_MS;
    return isFresh || ofRun.length >= MOST_OF_RUN ? newest.snapshot : undefined;
  }

  async #make(caller: Caller, runId: RunId, over: AbortSignal): Promise<LiveSnapshot> {
    const made = new AbortController();
    try {
      return await readLiveSnapshot(this.#context, caller, runId, AbortSignal.any([over, made.signal]));
    } finally {
      made.abort();
    }
  }

  #hand(runId: RunId, snapshot: LiveSnapshot, holder: string, over: AbortSignal): LiveSnapshot {
    over.throwIfAborted();
    const held = [...this.#held].find((one) => one.snapshot === snapshot) ?? this.#hold(runId, snapshot);
    const release = held.takers.hold(holder);
    const taken = (): void => {
      release();
      if (held.takers.size === 0) this.#held.delete(held);
      for (const room of this.#waiting) room.raise();
    };
    over.addEventListener("abort", taken, { once: true });
    return snapshot;
  }

  #hold(runId: RunId, snapshot: LiveSnapshot): Held {
    const held = { runId, snapshot, madeAt: this.#context.clock.monotonic(), takers: new Holds() };
    this.#held.add(held);
    return held;
  }

  #requireRoom(holder: string): void {
    const own = charsOf([...this.#held].filter(({ takers }) => takers.has(holder)));
    const { chars, charsOfCaller } = this.#bounds;
    if (this.chars < chars && own < charsOfCaller) return;
    throw new MillraceError(
      "too_many",
      "too many snapshots of runs are being read: read on, or follow fewer runs at once",
      {
        retryAfterSeconds: RETRY_SECONDS,
      },
    );
  }
}

function charsOf(held: Iterable<Held>): number {
  let chars = 0;
  for (const { snapshot } of held) chars += snapshot.chars;
  return chars;
}
