/**
 * Reads lines of a step's log by their numbers: forward from a line, backward from the end or from a line, or around a
 * line. One call costs a bounded number of lines; its answer says where the next call goes on.
 */
import { z } from "zod";
import { isActiveStepStatus } from "../../domain/status.ts";
import { stepStatus } from "../../../actors/step/state.ts";
import type { PipelineId, RunId, StepRunId } from "../../domain/ids.ts";
import { lastLineOf, type LogLine } from "../../stores/ports/logs.ts";
import { logEntry } from "../following/log-entry.ts";
import type { Caller } from "../identity/access.ts";
import { count } from "../lists.ts";
import { loopShare } from "../loop-share.ts";
import { requireKeptLog } from "../runs/kept-parts.ts";
import { fields, listOf, shape, wholeNumber } from "../shapes.ts";
import { type LoggedStep, reachLog } from "../step-runs.ts";
import type { LogsContext } from "./context.ts";
import { firstLinesOf } from "./first-lines.ts";
import { filterFields, type LogFilter, passes, ticketField } from "./log-filter.ts";

const MAX_LINES = 1_000;
const DEFAULT_LINES = 200;
const MAX_LINE_NUMBER = 999_999_999;
/** An answer ends with the read that reaches so many characters. */
const MAX_CHARS = 1 << 20;
/** What one call looks at, at most, for lines that pass a filter. */
const MAX_SCANNED_LINES = 50_000;
const MAX_SCANNED_CHARS = 8 << 20;
const PAGE_LINES = 1_000;
/** Read backward, a window may hold lines of the greatest length. */
const WINDOW_LINES = 200;

const lineNumber = count(MAX_LINE_NUMBER);

export const readLogQuery = z
  .strictObject({
    from: lineNumber.optional(),
    to: lineNumber.optional(),
    tail: count(MAX_LINES).optional(),
    before: lineNumber.optional(),
    around: lineNumber.optional(),
    limit: count(MAX_LINES).default(DEFAULT_LINES),
    ticket: ticketField,
    ...filterFields,
  })
  .superRefine((query, check) => {
    const ways = [query.from ?? query.to, query.tail ?? query.before, query.around];
    if (ways.filter((way) => way !== undefined).length > 1) {
      check.addIssue("takes one of `from` with `to`, `tail` with `before`, and `around`");
    }
    if (query.from !== undefined && query.to !== undefined && query.from > query.to) {
      check.addIssue("`from` must not be above `to`");
    }
  });

/** A line of a log, as the WebSocket sends it too. */
export const LogEntryShape = shape("LogEntry", () => ({
  step_run_id: z.string(),
  /** Unix seconds. */
  timestamp: wholeNumber,
  line_number: wholeNumber,
  level: z.string(),
  content: z.string(),
  stream: z.enum(["stdout", "stderr"]),
  plugin_name: z.string(),
  agent_id: z.string(),
}));

export const LogPageShape = fields(() => ({
  list: listOf(LogEntryShape),
  /** Number of the newest line that is stored; it grows while the step runs. */
  lines: wholeNumber,
  /** Number of the last line; null until the step has ended. */
  lastLine: wholeNumber.nullable(),
  /** True when no line follows `lines`. */
  isComplete: z.boolean(),
  /** The first line with the level `error`, and the first one of standard error; null while none is known. */
  firstError: wholeNumber.nullable(),
  firstStderr: wholeNumber.nullable(),
  /** The line before which the lines lie that were not read; null when the first line was. */
  previous: wholeNumber.nullable(),
  /** The first line behind those that were read; null when all were that the request asks for, and that are stored. */
  next: wholeNumber.nullable(),
}));

export interface StepLogName {
  /** Absent for a run of any pipeline. */
  readonly pipelineId?: PipelineId | undefined;
  readonly runId: RunId;
  readonly stepRunId: StepRunId;
}

/** A step's log, and what is stored of it. */
export interface StoredLog extends LoggedStep {
  /** Number of the newest line that is stored. */
  readonly through: number;
  readonly isComplete: boolean;
}

/** Throws `forbidden`, and `not_found` for an unknown step and for a log that was removed. */
export async function openLog(context: LogsContext, caller: Caller, name: StepLogName): Promise<StoredLog> {
  const found = await reachLog(context, caller, name);
  const { writer, logOf } = found;
  await requireKeptLog(context, writer.runId, logOf);
  const through = await context.stores.logs.storedThrough(logOf);
  const isActive = isActiveStepStatus(stepStatus(writer.state));
  return { ...found, through, isComplete: !isActive && through >= (writer.lastLine ?? 0) };
}

/** Some lines with the numbers of the first and the last line that were looked at. */
interface Read {
  readonly lines: readonly LogLine[];
  readonly first: number;
  readonly last: number;
}

/** Throws `forbidden`, and `not_found` for an unknown step and for a log that was removed. */
export async function readLog(
  context: LogsContext,
  caller: Caller,
  { pipelineId, runId, stepRunId, ...query }: StepLogName & z.output<typeof readLogQuery>,
): Promise<z.infer<typeof LogPageShape>> {
  const log = await openLog(context, caller, { pipelineId, runId, stepRunId });
  const { through, writer, uses } = log;
  const to = Math.min(query.to ?? through, through);
  const isBackward = query.tail !== undefined || query.before !== undefined;
  const read = isBackward
    ? await readBackward(context, log, query)
    : await readForward(context, log, { ...query, from: firstOf(query), to });
  const first = await firstLinesOf(context.stores.logs, log.logOf);
  const source = { stepRunId, agentId: writer.grant?.agentId ?? "", uses };
  return {
    list: read.lines.map((line) => logEntry(line, source)),
    lines: through,
    lastLine: writer.lastLine,
    isComplete: log.isComplete,
    ...first,
    previous: read.first > 1 ? read.first : null,
    next: read.last < (isBackward ? through : to) ? read.last + 1 : null,
  };
}

function firstOf({ from = 1, around, limit }: z.output<typeof readLogQuery>): number {
  return around === undefined ? from : Math.max(1, around - Math.floor(limit / 2));
}

async function readForward(
  { stores }: LogsContext,
  { logOf }: StoredLog,
  { from, to, limit, ...filter }: LogFilter & { readonly from: number; readonly to: number; readonly limit: number },
): Promise<Read> {
  const lines: LogLine[] = [];
  let next = from;
  let chars = 0;
  const scan = new Scan();
  while (next <= to && lines.length < limit && chars < MAX_CHARS && !scan.isOver) {
    await loopShare.enter();
    const page = await stores.logs.read(logOf, next, Math.min(PAGE_LINES, to - next + 1), MAX_CHARS);
    if (page.length === 0) break;
    for (const line of page) {
      if (line.line > to || lines.length === limit) break;
      next = lastLineOf(line) + 1;
      scan.add(line);
      if (!passes(filter, line)) continue;
      lines.push(line);
      chars += line.content.length;
    }
  }
  return { lines, first: from, last: next - 1 };
}

async function readBackward(
  { stores }: LogsContext,
  { logOf, through }: StoredLog,
  { tail, before, limit, ...filter }: LogFilter & Pick<z.output<typeof readLogQuery>, "tail" | "before" | "limit">,
): Promise<Read> {
  const most = tail ?? limit;
  const last = Math.min(before === undefined ? through : before - 1, through);
  const windows: (readonly LogLine[])[] = [];
  /** Lines below it are not looked at yet. */
  let first = last + 1;
  let [found, chars] = [0, 0];
  const scan = new Scan();
  while (first > 1 && found < most && chars < MAX_CHARS && !scan.isOver) {
    await loopShare.enter();
    const from = Math.max(1, first - WINDOW_LINES);
    const window = (await stores.logs.read(logOf, from, first - from)).filter(({ line }) => line < first);
    // A gap record may reach into the window from far before it.
    first = Math.min(from, window[0]?.line ?? from);
    for (const line of window) scan.add(line);
    const passing = window.filter((line) => passes(filter, line));
    const taken = passing.slice(Math.max(0, passing.length - (most - found)));
    if (taken.length < passing.length) first = taken[0]!.line;
    windows.push(taken);
    found += taken.length;
    chars += charsOf(taken);
  }
  return { lines: windows.reverse().flat(), first, last };
}

/** Counts what one call looks at. */
class Scan {
  #lines = 0;
  #chars = 0;

  add({ content }: LogLine): void {
    this.#lines++;
    this.#chars += content.length;
  }

  get isOver(): boolean {
    return this.#lines >= MAX_SCANNED_LINES || this.#chars >= MAX_SCANNED_CHARS;
  }
}

function charsOf(lines: readonly LogLine[]): number {
  return lines.reduce((sum, { content }) => sum + content.length, 0);
}
