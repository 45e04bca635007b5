/**
 * The lines of a log that the page keeps: pages of a fixed size around what is looked at. Pages that are far away are
 * dropped, so that a log of a million lines takes the memory of some thousand.
 */
import type { Schemas } from "../../../../clients/typescript/src/api-types.ts";

export type LogEntry = Schemas["LogEntry"];

export const PAGE_LINES = 500;
const MOST_PAGES = 24;

/** An answer of the server for lines from one on. */
export interface ReadLines {
  readonly list: readonly LogEntry[];
  /** Number of the newest stored line. */
  readonly lines: number;
  readonly isComplete: boolean;
  /** The first line behind those that were read, or null. */
  readonly next: number | null;
}

export type ReadPage = (from: number, to: number) => Promise<ReadLines>;

interface Page {
  readonly entries: Map<number, LogEntry>;
  /** All lines of the page up to this one are known. */
  knownTo: number;
  isReading: boolean;
}

export class LogPages {
  readonly #read: ReadPage;
  readonly #changed: (problem: unknown) => void;
  readonly #pages = new Map<number, Page>();
  #lines = 0;
  #isComplete = false;

  /** `changed` is called after lines have come, and with the error when they could not be read. */
  constructor(read: ReadPage, changed: (problem: unknown) => void) {
    this.#read = read;
    this.#changed = changed;
  }

  /** Number of the newest line that is known to exist. */
  get lines(): number {
    return this.#lines;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** How many pages are in memory. */
  get size(): number {
    return this.#pages.size;
  }

  entry(line: number): LogEntry | undefined {
    return this.#pages.get(pageOf(line))?.entries.get(line);
  }

  /** The line was read and is not there: it is a part of a gap. */
  isMissing(line: number): boolean {
    const page = this.#pages.get(pageOf(line));
    return page !== undefined && line <= page.knownTo && !page.entries.has(line);
  }

  /** The server says so. Numbers of lines only grow. */
  learn(lines: number, isComplete: boolean): void {
    this.#lines = Math.max(this.#lines, lines);
    this.#isComplete ||= isComplete;
  }

  /** Reads the pages with these lines, unless they are there, and drops those that are far from them. */
  want(from: number, to: number): void {
    const [first, last] = [pageOf(Math.max(1, from)), pageOf(Math.max(1, Math.min(to, this.#lines)))];
    for (let number = first; number <= last; number++) {
      const page = this.#pages.get(number);
      const end = Math.min((number + 1) * PAGE_LINES, this.#lines);
      if (page !== undefined && (page.isReading || page.knownTo >= end)) continue;
      void this.#fill(number);
    }
    this.#drop(first, last);
  }

  /** Lines that have come live, in order. Those far away from any page are left to a later reading. */
  append(entries: readonly LogEntry[]): void {
    for (const entry of entries) {
      const line = entry.line_number;
      const number = pageOf(line);
      let page = this.#pages.get(number);
      if (page === undefined && line === number * PAGE_LINES + 1 && line === this.#lines + 1) {
        page = { entries: new Map(), knownTo: line - 1, isReading: false };
        this.#pages.set(number, page);
      }
      if (page !== undefined && page.knownTo === line - 1) {
        page.entries.set(line, entry);
        page.knownTo = line;
      }
      this.#lines = Math.max(this.#lines, line);
    }
    const last = pageOf(Math.max(1, this.#lines));
    if (this.#pages.size > MOST_PAGES) this.#drop(last, last);
  }

  async #fill(number: number): Promise<void> {
    const start = number * PAGE_LINES + 1;
    const page = this.#pages.get(number) ?? { entries: new Map(), knownTo: start - 1, isReading: false };
    this.#pages.set(number, page);
    page.isReading = true;
    let problem: unknown = null;
    try {
      for (let isMore = true; isMore;) {
        const from = page.knownTo + 1;
        const to = Math.min((number + 1) * PAGE_LINES, Math.max(this.#lines, from));
        const read = await this.#read(from, to);
        for (const entry of read.list) page.entries.set(entry.line_number, entry);
        const behind = read.next === null ? Math.min(to, read.lines) + 1 : Math.min(read.next, to + 1);
        page.knownTo = Math.max(page.knownTo, behind - 1);
        this.learn(read.lines, read.isComplete);
        isMore = page.knownTo >= from && page.knownTo < to;
      }
    } catch (error) {
      problem = error;
    }
    page.isReading = false;
    // A page that was dropped meanwhile stays dropped.
    this.#changed(problem);
  }

  #drop(first: number, last: number): void {
    const distance = (number: number): number => (number < first ? first - number : Math.max(0, number - last));
    const far = [...this.#pages.keys()].toSorted((a, b) => distance(b) - distance(a));
    for (const number of far) {
      if (this.#pages.size <= MOST_PAGES || distance(number) === 0) return;
      if (!this.#pages.get(number)!.isReading) this.#pages.delete(number);
    }
  }
}

/** Position of the page that has the line. */
export function pageOf(line: number): number {
  return Math.floor((line - 1) / PAGE_LINES);
}
