/**
 * Pages of stored events. A follower that is behind, or does not read, holds the page that it is at; others at the same
 * place are given the same page, so that a thousand of them hold it once.
 */
import type { RunEvent } from "../../domain/events.ts";
import type { RunId } from "../../domain/ids.ts";

/** A full page never changes: events are numbered without a gap, and none is stored twice. */
export class EventPages {
  readonly #pages = new Map<string, WeakRef<readonly RunEvent[]>>();
  readonly #forgotten = new FinalizationRegistry<string>((key) => {
    if (this.#pages.get(key)?.deref() === undefined) this.#pages.delete(key);
  });

  get(runId: RunId, after: number): readonly RunEvent[] | undefined {
    return this.#pages.get(keyOf(runId, after))?.deref();
  }

  /** Answers the page that others hold already, if there is one. */
  share(runId: RunId, after: number, page: readonly RunEvent[]): readonly RunEvent[] {
    const known = this.get(runId, after);
    if (known !== undefined) return known;
    const key = keyOf(runId, after);
    this.#pages.set(key, new WeakRef(page));
    this.#forgotten.register(page, key);
    return page;
  }
}

function keyOf(runId: RunId, after: number): string {
  return `${runId}/${after}`;
}
