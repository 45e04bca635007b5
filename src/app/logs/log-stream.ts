/** A step's log as an event stream: the lines that are stored, then each new one, until the log ends. */
import type { z } from "zod";
import { isActiveStepStatus } from "../../domain/status.ts";
import { stepStatus } from "../../../actors/step/state.ts";
import { MillraceError } from "../../domain/errors.ts";
import { lastLineOf } from "../../stores/ports/logs.ts";
import type { Followers } from "../following/followers.ts";
import { ENDED, type LiveMessage, SUBSCRIBED } from "../following/live-channel.ts";
import { logEntry, type LogSource } from "../following/log-entry.ts";
import type { LogPart } from "../following/log-pages.ts";
import { followLog } from "../following/log-updates.ts";
import type { Caller } from "../identity/access.ts";
import { loopShare } from "../loop-share.ts";
import { firstLinesOf } from "./first-lines.ts";
import { type LogFilter, passes } from "./log-filter.ts";
import { openLog, type readLogQuery, type StepLogName, type StoredLog } from "./read-log.ts";

export interface LogStreamRequest {
  readonly name: StepLogName;
  readonly query: z.output<typeof readLogQuery>;
  /** The header `Last-Event-ID`: the last line that the caller has. */
  readonly after: string | undefined;
  readonly abort: AbortSignal;
}

/**
 * Begins with `ended` when nothing can follow what the caller has. Throws `forbidden`, `malformed_request`, and
 * `not_found` for an unknown step and for a log that was removed.
 */
export async function* streamLog(
  { context, logPages }: Pick<Followers, "context" | "logPages">,
  caller: Caller,
  { name, query, after, abort }: LogStreamRequest,
): AsyncGenerator<LiveMessage, void, void> {
  const log = await openLog(context, caller, name);
  const fromLine = firstLineOf(query, after, log);
  if (isOver(log, fromLine)) {
    yield ENDED;
    return;
  }
  yield SUBSCRIBED;
  for await (const update of followLog(context, { stepRunId: log.logOf, pages: logPages, fromLine, abort })) {
    if (update.type === "historyDone") {
      const lines = await context.stores.logs.storedThrough(log.logOf);
      const json = JSON.stringify({ lines, ...(await firstLinesOf(context.stores.logs, log.logOf)) });
      yield { type: "historyDone", json, after: null };
      continue;
    }
    await loopShare.enter();
    const source = { stepRunId: name.stepRunId, agentId: update.agentId, uses: log.uses };
    const message = linesMessage(update.lines, source, query);
    if (message !== undefined) yield message;
  }
  if (!abort.aborted) yield ENDED;
}

function firstLineOf(query: LogStreamRequest["query"], after: string | undefined, { through }: StoredLog): number {
  const { from = 1, to, tail, before, around } = query;
  if ((to ?? before ?? around) !== undefined) {
    throw new MillraceError(
      "malformed_request",
      "an event stream of a log takes `from` or `tail`, `level` and `stream`",
    );
  }
  if (after === undefined) return tail === undefined ? from : Math.max(1, through - tail + 1);
  const line = /^\d{1,10}$/.test(after) ? Number(after) : Number.NaN;
  if (!(line <= 0x7fff_ffff)) {
    throw new MillraceError("malformed_request", "the header Last-Event-ID must be the number of a line");
  }
  return line + 1;
}

/** True when the step has ended and its lines are known to end before that one. */
function isOver({ through, writer }: StoredLog, fromLine: number): boolean {
  const { state, lastLine, grant } = writer;
  if (isActiveStepStatus(stepStatus(state)) || (lastLine === null && grant !== null)) return false;
  return fromLine > Math.max(through, lastLine ?? 0);
}

/** What all who follow a step are sent of a part of its log, made once. */
const made = new WeakMap<LogPart, { readonly source: LogSource; readonly message: LiveMessage }>();

/** Undefined when no line passes the filter. */
function linesMessage(part: LogPart, source: LogSource, filter: LogFilter): LiveMessage | undefined {
  if (filter.level !== undefined || filter.stream !== undefined) {
    const lines = part.filter((line) => passes(filter, line));
    return lines.length === 0 ? undefined : messageOf(lines, source);
  }
  const known = made.get(part);
  if (known?.source.stepRunId === source.stepRunId && known.source.agentId === source.agentId) return known.message;
  const message = messageOf(part, source);
  made.set(part, { source, message });
  return message;
}

function messageOf(lines: LogPart, source: LogSource): LiveMessage {
  const json = JSON.stringify(lines.map((line) => logEntry(line, source)));
  return { type: "lines", json, after: String(lastLineOf(lines.at(-1)!)) };
}
