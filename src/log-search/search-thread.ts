/**
 * The thread in which patterns are matched, one for the process: a page of long lines may take seconds, which the event
 * loop must not. It starts with the first page and ends when it idles.
 */
import type { Worker } from "node:worker_threads";
import { MillraceError } from "../domain/errors.ts";
import { startThread } from "../program-files.ts";
import type { Matches } from "./line-matches.ts";
import type { SearchRequest, SearchResponse } from "./search-main.ts";

const IDLE_MS = 2_000;
const HEAP_MB = 128;
/** The last line of a page may take so long beyond the time of the page, and pages of other searches before it. */
const GRACE_MS = 15_000;

interface Asked {
  readonly resolve: (matches: Matches) => void;
  readonly reject: (error: MillraceError) => void;
  readonly timer: NodeJS.Timeout;
}

export class SearchThread {
  readonly #graceMs: number;
  #worker: Worker | null = null;
  #idle: NodeJS.Timeout | undefined;
  #count = 0;
  readonly #asked = new Map<number, Asked>();

  constructor(graceMs: number = GRACE_MS) {
    this.#graceMs = graceMs;
  }

  /**
   * Matches the lines until `withinMs` is over, and one line at least. Throws `malformed_request` for a pattern that
   * cannot be read, `deadline_exceeded`, and `unavailable` when the thread ends unexpectedly.
   */
  match(request: Omit<SearchRequest, "id">): Promise<Matches> {
    const id = ++this.#count;
    const worker = (this.#worker ??= this.#start());
    clearTimeout(this.#idle);
    worker.ref();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        void this.#end(
          worker,
          new MillraceError("deadline_exceeded", "the search took too long and was ended: make the pattern simpler"),
        );
      }, request.withinMs + this.#graceMs);
      this.#asked.set(id, { resolve, reject, timer });
      worker.postMessage({ ...request, id } satisfies SearchRequest);
    });
  }

  #start(): Worker {
    const worker = startThread("search-main", import.meta.url, HEAP_MB);
    worker.on("message", (response: SearchResponse) => this.#settle(worker, response));
    const ended = (): void =>
      void this.#end(worker, new MillraceError("unavailable", "the search was interrupted: repeat the call"));
    worker.on("error", ended);
    worker.on("exit", ended);
    return worker;
  }

  #settle(worker: Worker, response: SearchResponse): void {
    const asked = this.#asked.get(response.id);
    if (asked === undefined) return;
    this.#asked.delete(response.id);
    clearTimeout(asked.timer);
    if ("matches" in response) asked.resolve(response.matches);
    else if ("bad" in response) asked.reject(new MillraceError("malformed_request", `/q ${response.bad}`));
    else asked.reject(new MillraceError("internal", response.failed));
    if (this.#asked.size > 0) return;
    worker.unref();
    this.#idle = setTimeout(() => void this.#end(worker, new MillraceError("internal", "idle")), IDLE_MS).unref();
  }

  async #end(worker: Worker, reason: MillraceError): Promise<void> {
    if (this.#worker !== worker) return;
    this.#worker = null;
    clearTimeout(this.#idle);
    for (const { reject, timer } of this.#asked.values()) {
      clearTimeout(timer);
      reject(reason);
    }
    this.#asked.clear();
    await worker.terminate();
  }
}

export const searchThread = new SearchThread();
