/**
 * Pages of stored log lines. A page is read once for all followers of this process that need it at about the same time,
 * and each part of a page is one object, so that what is made of it (its text for viewers) can be kept beside it.
 */
import type { StepRunId } from "../../domain/ids.ts";
import { ColdLogError, lastLineOf, type LogLine } from "../../stores/ports/logs.ts";
import type { AppContext, WithStores } from "../context.ts";
import { loopShare } from "../loop-share.ts";

/** Lines of one part, at most: a message of history has no more. */
const PART_LINES = 200;
/** Bounds of a page. A page ends with the stored chunk that reaches the second one. */
const PAGE_LINES = 1_000;
const PAGE_CHARS = 1 << 20;
/** Full pages in memory, which followers that are a little behind others find. */
const KEPT_PAGES = 16;

/** A part of a log: lines that follow one another, never empty. */
export type LogPart = readonly LogLine[];

export interface LogPage {
  readonly parts: readonly LogPart[];
  /** Every further read from the same line gives the same page. */
  readonly isFull: boolean;
}

export class LogPages {
  #steadySince: number;
  readonly #context: Pick<AppContext, "clock"> & WithStores<"logs">;
  readonly #running = new Map<string, Promise<LogPage>>();
  /** By step run and first line, in the order of the last use, oldest first. */
  readonly #kept = new Map<string, LogPage>();

  constructor(context: Pick<AppContext, "clock"> & WithStores<"logs">) {
    this.#context = context;
    this.#steadySince = context.clock.now();
  }

  /**
   * Since when this process has read logs without a failure: Unix milliseconds by its clock. Before that, agents may have
   * been unable to deliver lines too.
   */
  get steadySince(): number {
    return this.#steadySince;
  }

  /** The lines from `fromLine` on; no parts when there is none. Everything that was stored before the call is seen. */
  async read(stepRunId: StepRunId, fromLine: number): Promise<LogPage> {
    const key = `${stepRunId}/${fromLine}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return this.#keep(key, kept);
    const earlier = this.#running.get(key);
    if (earlier !== undefined) {
      const page = await earlier;
      if (page.isFull) return page;
      // That read may have begun before the newest line was stored. A read that runs now has begun after this call.
    }
    return this.#running.get(key) ?? this.#start(key, stepRunId, fromLine);
  }

  #start(key: string, stepRunId: StepRunId, fromLine: number): Promise<LogPage> {
    const reading = this.#read(stepRunId, fromLine)
      .then((page) => (page.isFull ? this.#keep(key, page) : page))
      .catch((error: unknown) => {
        if (!(error instanceof ColdLogError)) this.#steadySince = this.#context.clock.now();
        throw error;
      })
      .finally(() => this.#running.delete(key));
    this.#running.set(key, reading);
    return reading;
  }

  async #read(stepRunId: StepRunId, fromLine: number): Promise<LogPage> {
    await loopShare.enter();
    // Pages end at the same lines for all followers, so that those who began at different lines soon need the same ones.
    const limit = PAGE_LINES - ((fromLine - 1) % PAGE_LINES);
    const lines = await this.#context.stores.logs.read(stepRunId, fromLine, limit, PAGE_CHARS);
    // A gap record may still grow.
    const isFull = lines.length === limit && lines.every(({ lost }) => lost === 0);
    return { parts: partsOf(lines), isFull };
  }

  #keep(key: string, page: LogPage): LogPage {
    this.#kept.delete(key);
    this.#kept.set(key, page);
    if (this.#kept.size > KEPT_PAGES) this.#kept.delete(this.#kept.keys().next().value!);
    return page;
  }
}

const PARTS = new WeakMap<readonly LogLine[], readonly LogPart[]>();

/** The lines in parts of bounded length. The same list gives the same parts. */
export function partsOf(lines: readonly LogLine[]): readonly LogPart[] {
  let parts = PARTS.get(lines);
  if (parts === undefined) {
    parts = cut(lines);
    PARTS.set(lines, parts);
  }
  return parts;
}

/** Cuts at the same lines for all followers, and where lines are missing. */
function cut(lines: readonly LogLine[]): readonly LogPart[] {
  const parts: LogPart[] = [];
  let first = 0;
  for (let at = 1; at <= lines.length; at++) {
    const isEnd = at === lines.length || (lines[at]!.line - 1) % PART_LINES === 0 || at - first === PART_LINES;
    if (!isEnd && lines[at]!.line === lastLineOf(lines[at - 1]!) + 1) continue;
    parts.push(lines.slice(first, at));
    first = at;
  }
  return parts;
}
