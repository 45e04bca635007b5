/** What happened in a simulation, for people, and as a number that is the same when the same happened. */
import type { Scheduler } from "./scheduler.ts";

/** `none`: nothing is noted. `hash`: only the number is kept. `last`: the newest lines too. `all`: every line. */
export type Tracing = "none" | "hash" | "last" | "all";

const LAST_LINES = 4_000;

export class Trace {
  readonly #scheduler: Scheduler;
  readonly #tracing: Tracing;
  readonly #lines: string[] = [];
  readonly #startedAt: number;
  #hash = 0x811c9dc5;

  constructor(scheduler: Scheduler, tracing: Tracing) {
    this.#scheduler = scheduler;
    this.#tracing = tracing;
    this.#startedAt = scheduler.now;
  }

  /** Notes an event. `text` is called only when the trace is kept. */
  note(text: () => string): void {
    if (this.#tracing === "none") return;
    const line = `${(this.#scheduler.now - this.#startedAt).toFixed(3).padStart(11)} ${text()}`;
    for (let at = 0; at < line.length; at++) this.#hash = Math.imul(this.#hash ^ line.charCodeAt(at), 0x01000193);
    if (this.#tracing === "hash") return;
    this.#lines.push(line);
    if (this.#tracing === "last" && this.#lines.length > 2 * LAST_LINES) this.#lines.splice(0, LAST_LINES);
  }

  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, "0");
  }

  get lines(): readonly string[] {
    return this.#tracing === "last" ? this.#lines.slice(-LAST_LINES) : this.#lines;
  }
}
