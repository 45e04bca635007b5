/**
 * Looks through logs for what a search asks for. A scan is bounded in time and in what it finds; it says at which line
 * another scan goes on. Texts are matched in short slices, patterns in a thread.
 */
import type { StepRunId } from "../../domain/ids.ts";
import { matchLines, type Range, textFinder } from "../../log-search/line-matches.ts";
import { searchThread } from "../../log-search/search-thread.ts";
import { lastLineOf, type LogLine, type LogStore } from "../../stores/ports/logs.ts";
import { loopShare } from "../loop-share.ts";
import { type LogFilter, passes } from "./log-filter.ts";

/** A scan begins no more work after this time. */
const SCAN_MS = 2_000;
/** One slice on the event loop. */
const SLICE_MS = 3;
const PAGE_LINES = 1_000;
const PAGE_CHARS = 1 << 19;
/** A scan that has found so many characters finds no more. */
const MAX_CHARS = 1 << 20;

export interface ScanRequest extends LogFilter {
  readonly text: string;
  readonly isPattern: boolean;
  readonly ignoreCase: boolean;
  /** Lines to show on both sides of a match. */
  readonly context: number;
  /** Matches, at most. */
  readonly limit: number;
}

export interface FoundLine {
  readonly line: LogLine;
  readonly ranges: readonly Range[];
  /** The lines and gap records on both sides, as far as the context reaches. */
  readonly before: readonly LogLine[];
  readonly after: LogLine[];
}

/** Lines that match, by their line, up to the first one that was not looked at; undefined when all were. */
interface PageMatches {
  readonly ranges: ReadonlyMap<LogLine, readonly Range[]>;
  readonly rest: LogLine | undefined;
}

export class LogScan {
  readonly #logs: Pick<LogStore, "read" | "storedThrough">;
  readonly #request: ScanRequest;
  #endsAt = performance.now() + SCAN_MS;
  #matches = 0;
  #chars = 0;
  #searchedLines = 0;

  constructor(logs: Pick<LogStore, "read" | "storedThrough">, request: ScanRequest) {
    this.#logs = logs;
    this.#request = request;
  }

  /** Lines that were looked at. */
  get searchedLines(): number {
    return this.#searchedLines;
  }

  /** True when no further log should be begun. */
  get isOver(): boolean {
    return this.#isFull || performance.now() >= this.#endsAt;
  }

  get #isFull(): boolean {
    return this.#matches >= this.#request.limit || this.#chars >= MAX_CHARS;
  }

  /** Throws `malformed_request` for a pattern that cannot be read, also when there are no lines that it could match. */
  async check(): Promise<void> {
    if (!this.#request.isPattern) return;
    await this.#match([]);
    // The start of the thread is no part of the search.
    this.#endsAt = performance.now() + SCAN_MS;
  }

  /**
   * Looks through a log from a line on, at one line at least. `next` is the line at which to go on; null at the end of
   * what is stored.
   */
  async through(
    logOf: StepRunId,
    from: number,
  ): Promise<{ readonly found: readonly FoundLine[]; readonly next: number | null }> {
    const { context } = this.#request;
    const through = await this.#logs.storedThrough(logOf);
    const found: FoundLine[] = [];
    let recent: readonly LogLine[] = [];
    for (let next = from, read = Math.max(1, from - context); ;) {
      await loopShare.enter();
      const page = read > through ? [] : await this.#logs.read(logOf, read, PAGE_LINES, PAGE_CHARS);
      if (page.length === 0) return { found, next: null };
      const { ranges, rest } = await this.#search(page.filter(({ line }) => line >= next));
      const stop = this.#take(found, page, recent, { ranges, rest });
      recent = page.slice(-context || page.length);
      read = lastLineOf(page.at(-1)!) + 1;
      next = stop ?? read;
      if (stop === undefined && !this.isOver) continue;
      const isOpen = found.some(({ line }) => line.line + context >= read);
      if (isOpen) this.#extend(found, await this.#logs.read(logOf, read, context));
      return { found, next: next > through ? null : next };
    }
  }

  async #search(lines: readonly LogLine[]): Promise<PageMatches> {
    const candidates = lines.filter((line) => line.lost === 0 && passes(this.#request, line));
    const ranges = new Map<LogLine, readonly Range[]>();
    let done = 0;
    do {
      if (candidates.length === 0) break;
      const matches = await this.#match(candidates.slice(done).map(({ content }) => content));
      for (const [index, at] of matches.found) ranges.set(candidates[done + index]!, at);
      done += matches.done;
    } while (done < candidates.length && performance.now() < this.#endsAt);
    this.#searchedLines += done;
    return { ranges, rest: candidates[done] };
  }

  async #match(lines: readonly string[]) {
    const { text, isPattern, ignoreCase } = this.#request;
    const now = performance.now();
    if (isPattern) {
      return searchThread.match({ pattern: text, ignoreCase, lines, withinMs: Math.max(0, this.#endsAt - now) });
    }
    await loopShare.enter();
    const startedAt = performance.now();
    return matchLines(lines, textFinder(text, ignoreCase), () => performance.now() - startedAt >= SLICE_MS);
  }

  /** Adds what matches. Answers the first line that is left for another scan; undefined when none of the page is. */
  #take(
    found: FoundLine[],
    page: readonly LogLine[],
    recent: readonly LogLine[],
    { ranges, rest }: PageMatches,
  ): number | undefined {
    const around = [...recent, ...page];
    let stop = rest?.line;
    for (const [at, line] of page.entries()) {
      this.#extend(found, [line]);
      const places = ranges.get(line);
      if (places === undefined || (stop !== undefined && line.line >= stop)) continue;
      if (this.#isFull) {
        stop = line.line;
        continue;
      }
      const reach = line.line - this.#request.context;
      const before = around.slice(Math.max(0, recent.length + at - this.#request.context), recent.length + at);
      const match: FoundLine = {
        line,
        ranges: places,
        before: before.filter((one) => lastLineOf(one) >= reach),
        after: [],
      };
      found.push(match);
      this.#matches++;
      this.#chars += charsOf([line, ...match.before]);
    }
    return stop;
  }

  /** Adds lines behind the newest matches to them, as far as the context reaches. */
  #extend(found: readonly FoundLine[], lines: readonly LogLine[]): void {
    for (const line of lines) {
      for (let at = found.length - 1; at >= 0; at--) {
        const match = found[at]!;
        if (match.line.line + this.#request.context < line.line) break;
        match.after.push(line);
        this.#chars += line.content.length;
      }
    }
  }
}

function charsOf(lines: readonly LogLine[]): number {
  return lines.reduce((sum, { content }) => sum + content.length, 0);
}
