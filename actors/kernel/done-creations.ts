/**
 * Runs whose creator, in this process, has performed all that their first turns owe (creator-grace.ts). Their owner leaves nothing
 * to it any more, so that its saves need not carry those effects on: of a run with a thousand jobs they are a megabyte.
 */
import type { RunId } from "../../src/domain/ids.ts";

/** Older creations are forgotten: their grace is over, and their owner finds out by itself what is left. */
const MOST = 4_000;

export class DoneCreations {
  /** Oldest first. */
  readonly #runIds = new Set<string>();
  /** Removes what it passes. A new iterator would look at the place of each entry that was removed before. */
  readonly #oldest = this.#runIds.values();

  add(runId: RunId): void {
    this.#runIds.add(runId);
    if (this.#runIds.size > MOST) this.#runIds.delete(this.#oldest.next().value!);
  }

  has(rootId: string): boolean {
    return this.#runIds.has(rootId);
  }
}
