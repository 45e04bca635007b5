/** The log of one step: pages of it by HTTP, live lines by the socket, and what the server finds in it. */
import { signal } from "@preact/signals";
import { api, type Schemas } from "../../api/client.ts";
import { type LiveMessage, subscribe } from "../../live/socket.ts";
import { type GroupMark, groupMark, groupsOf, type Group, type Hidden } from "./folds.ts";
import { type LogEntry, LogPages } from "./pages.ts";

export interface LogPlace {
  readonly pipelineId: string;
  readonly runId: string;
  readonly jobId: string;
  readonly stepRunId: string;
}

const READ = "/pipelines/{pipelineId}/runs/{runId}/steps/{stepRunId}/logs";
const SEARCH = "/pipelines/{pipelineId}/runs/{runId}/steps/{stepRunId}/logs/search";
/** The server answers at most so many matches at a time. */
const MATCHES = 200;
/** Calls for the outline of groups, so that a log of nothing but groups costs a bounded time. */
const MOST_OUTLINE_CALLS = 10;
/** New lines are shown at most so often: no eye reads a log that changes faster. */
const SHOWN_MS = 50;
/** When more lines come at once than a window shows, every row changes: the eye sees a blur, and each drawing costs more. */
const RUSHING_MS = 100;
const RUSHING_LINES = 60;
const HIDDEN_MS = 1_000;
const GAP = /^lines (\d+)-(\d+) lost$/;

/** The lines that an entry says were lost for good, or null for a line. */
export function gapOf({ level, content, line_number }: LogEntry): Hidden | null {
  const match = level === "warn" ? GAP.exec(content) : null;
  if (match === null || Number(match[1]) !== line_number) return null;
  return { from: line_number, to: Number(match[2]) };
}

export class LogStore {
  readonly place: LogPlace;
  readonly pages: LogPages;
  /** Grows whenever there is something new to show. */
  readonly version = signal(0);
  readonly problem = signal<unknown>(undefined);
  readonly isOpen = signal(false);
  #firstFailure: number | null = null;
  readonly #marks = new Map<number, GroupMark>();
  readonly #gaps = new Map<number, Hidden>();
  #groups: { readonly key: string; readonly list: readonly Group[] } = { key: "", list: [] };
  #timer: ReturnType<typeof setTimeout> | undefined;
  #shownAt = -Infinity;
  #shownLines = 0;
  #isRushing = false;
  #unsubscribe = (): void => {};
  readonly #abort = new AbortController();

  constructor(place: LogPlace) {
    this.place = place;
    this.pages = new LogPages(
      (from, to) => this.#read(from, to),
      (problem) => this.#changed(problem),
    );
  }

  /** The first line of an error, else the first one of standard error; null while there is none. */
  get firstFailure(): number | null {
    return this.#firstFailure;
  }

  get gaps(): readonly Hidden[] {
    return [...this.#gaps.values()];
  }

  get groups(): readonly Group[] {
    const key = `${this.#marks.size} ${this.pages.lines}`;
    if (this.#groups.key !== key) this.#groups = { key, list: groupsOf([...this.#marks.values()], this.pages.lines) };
    return this.#groups.list;
  }

  /** Reads how long the log is, with its end, and follows it when the step has not ended. */
  async open(): Promise<void> {
    const { pipelineId, runId, stepRunId } = this.place;
    try {
      const path = { pipelineId, runId, stepRunId };
      const head = await api.get(READ, { path, query: { tail: 1 }, signal: this.#abort.signal });
      this.#firstFailure = head.firstError ?? head.firstStderr;
      this.pages.learn(head.lines, head.isComplete);
      this.pages.want(head.lines - 40, head.lines);
      this.isOpen.value = true;
      this.problem.value = undefined;
      this.version.value++;
      if (!head.isComplete) this.#follow();
      if (head.lines > 0) await this.#readOutline();
    } catch (error) {
      if (!this.#abort.signal.aborted) this.problem.value = error;
    }
  }

  close(): void {
    this.#abort.abort();
    this.#unsubscribe();
    clearTimeout(this.#timer);
  }

  /** Matches of a search behind an earlier answer. */
  search(
    query: { readonly q: string; readonly pattern: boolean; readonly ignoreCase: boolean },
    after: string | null,
    signal: AbortSignal,
  ) {
    const { pipelineId, runId, stepRunId } = this.place;
    return api.get(SEARCH, {
      path: { pipelineId, runId, stepRunId },
      query: {
        q: query.q,
        ...(query.pattern ? { pattern: "true" as const } : {}),
        ...(query.ignoreCase ? { ignoreCase: "true" as const } : {}),
        limit: MATCHES,
        ...(after === null ? {} : { after }),
      },
      signal,
    });
  }

  async #read(from: number, to: number) {
    const { pipelineId, runId, stepRunId } = this.place;
    const path = { pipelineId, runId, stepRunId };
    const read = await api.get(READ, { path, query: { from, to, limit: to - from + 1 }, signal: this.#abort.signal });
    this.#firstFailure ??= read.firstError ?? read.firstStderr;
    this.#notice(read.list);
    return read;
  }

  #changed(problem: unknown): void {
    if (this.#abort.signal.aborted) return;
    this.problem.value = problem ?? undefined;
    this.version.value++;
  }

  #follow(): void {
    const { pipelineId, jobId, stepRunId } = this.place;
    const params = { pipelineId, jobId, stepRunId, fromLine: this.pages.lines + 1 };
    this.#unsubscribe = subscribe({ channel: "channel_log", params }, (message) => this.#take(message));
  }

  /**
   * Keeps the lines of a message at once. So the work of a task is that of one message, and what waits to be shown takes no
   * memory besides the pages, also in a tab whose timers the browser slows down.
   */
  #take({ type, data, error }: LiveMessage): void {
    if (type === "log_chunk") this.#keep(data as readonly LogEntry[]);
    else if (type === "log") this.#keep([data as LogEntry]);
    else if (type === "error") this.problem.value = new Error(error ?? "the log cannot be followed");
  }

  #keep(entries: readonly LogEntry[]): void {
    this.#notice(entries);
    this.pages.append(entries);
    this.#showLater();
  }

  /** The first lines after a pause are shown at once, and those that come quickly together. */
  #showLater(): void {
    if (this.#timer !== undefined) return;
    const everyMs = document.hidden ? HIDDEN_MS : this.#isRushing ? RUSHING_MS : SHOWN_MS;
    this.#timer = setTimeout(() => this.#show(), Math.max(0, this.#shownAt + everyMs - performance.now()));
  }

  #show(): void {
    this.#timer = undefined;
    this.#shownAt = performance.now();
    this.#isRushing = this.pages.lines - this.#shownLines > RUSHING_LINES;
    this.#shownLines = this.pages.lines;
    this.version.value++;
  }

  #notice(entries: readonly Schemas["LogEntry"][]): void {
    for (const entry of entries) {
      const mark = groupMark(entry.line_number, entry.content);
      if (mark !== null) this.#marks.set(mark.line, mark);
      const gap = gapOf(entry);
      if (gap !== null) this.#gaps.set(gap.from, gap);
      if (entry.level === "error" && (this.#firstFailure === null || entry.line_number < this.#firstFailure))
        this.#firstFailure = entry.line_number;
    }
  }

  /** The server finds the groups of the whole log, so that they can be folded before their lines are read. */
  async #readOutline(): Promise<void> {
    let after: string | null = null;
    for (let call = 0; call < MOST_OUTLINE_CALLS; call++) {
      const found: { readonly list: readonly Schemas["LogMatch"][]; readonly next: string | null } = await this.search(
        { q: "^::(group::|endgroup::)", pattern: true, ignoreCase: false },
        after,
        this.#abort.signal,
      );
      this.#notice(found.list.map(({ entry }) => entry));
      if (found.list.length > 0) this.version.value++;
      if (found.next === null) return;
      after = found.next;
    }
  }
}
