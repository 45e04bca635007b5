/**
 * The log of a step run as a viewer follows it: first the history, then live lines, each line once and in order. The
 * store is the truth; the feed only brings new lines sooner.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type StepState, stepStatus } from "../../../actors/step/state.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { StepRunId } from "../../domain/ids.ts";
import { isActiveStepStatus } from "../../domain/status.ts";
import { KNOWN_MS, logChannel } from "../../feed/feed.ts";
import { lastLineOf, type LogLine } from "../../stores/ports/logs.ts";
import type { FollowingContext } from "./context.ts";
import { type LogPages, type LogPart, partsOf } from "./log-pages.ts";
import { requireKeptLog } from "../runs/kept-parts.ts";
import { Signal } from "../signal.ts";
import { noStepRun } from "../step-runs.ts";

/** Between two reads of the store while the step is active. */
const REREAD_MS = 1_000;
/**
 * While the feed brings one line after the other, none is missing, and the store is not read. It is once no line has come
 * for this long: the last one may be lost, or the step may have ended.
 */
const QUIET_MS = 200;
/**
 * The last lines of a step count as lost when this long after its end, after the newest line that has come, and after
 * this process began to read logs without a failure, they have not arrived. An agent that could not deliver while the
 * control plane was down needs the time after that.
 */
const LATE_LINES_MS = 30_000;
/**
 * A follower that comes later than that cannot know when the newest line came. It looks again after this time, and goes
 * on while it finds new lines: an agent with many lines to deliver may need more than 30 s.
 */
const LOOK_AGAIN_MS = 3_000;
/**
 * The history of a step that has ended goes on while its agent still delivers lines: until none has come for this time.
 */
const ENDED_QUIET_MS = 1_000;
/** Lines from the feed that wait for the consumer, at most; more are dropped and read from the store. */
const FEED_BUFFER_LINES = 2_000;

export type LogUpdate =
  | {
      readonly type: "history" | "live";
      /** At most 200. Followers of one step are given the same list where they can be. */
      readonly lines: LogPart;
      readonly agentId: string;
    }
  | { readonly type: "historyDone" };

interface LogRequest {
  /** Shared by all followers of this process. */
  readonly pages: LogPages;
  readonly stepRunId: StepRunId;
  /** The first line to give; lines count from 1. */
  readonly fromLine: number;
  readonly abort: AbortSignal;
}

/**
 * `historyDone` comes after every line that was stored before the call; of a step that has ended, after every line that
 * its agent still delivers without a pause. Ends when the step is final and its last line was given, or with a gap
 * record when no line has come for 30 s after the end of the step. Nothing is read ahead of the consumer. After the
 * history, a store that is unavailable only delays the lines. Throws `not_found`, also for a log that retention has
 * deleted.
 */
export async function* followLog(
  context: FollowingContext,
  request: LogRequest,
): AsyncGenerator<LogUpdate, void, void> {
  const { stepRunId, pages, abort } = request;
  const feed = new FeedBuffer();
  // Follow before the first read, so that no line is lost between history and live lines.
  const unsubscribe = await context.feed
    .follow(logChannel(stepRunId), (payload) => feed.add(payload as readonly LogLine[]))
    .catch(() => undefined);
  const { clock } = context;
  const followedAt = clock.monotonic();
  try {
    const cursor = new LogCursor(request.fromLine);
    let step = await readStep(context, stepRunId);
    let endOfHistory: EndOfLog;
    for (let last = Number.NaN; ;) {
      for await (const lines of readThrough(pages, stepRunId, cursor)) {
        yield { type: "history", lines, agentId: agentOf(step) };
      }
      endOfHistory = await endOf(context, { step, cursor, steadySince: pages.steadySince });
      const quietMs = endOfHistory.lost === undefined ? ENDED_QUIET_MS : LOOK_AGAIN_MS;
      const isDelivering = endOfHistory.lost !== undefined || endOfHistory.isMissing === true;
      if (!isDelivering || cursor.next === last || abort.aborted) break;
      last = cursor.next;
      await sleep(quietMs, undefined, { signal: abort }).catch(() => {});
    }
    for (const lost of cursor.pass(endOfHistory)) yield { type: "history", lines: [lost], agentId: agentOf(step) };
    yield { type: "historyDone" };
    if (endOfHistory.ended) return;

    // The first read is due when all nodes publish what is stored.
    let readAt = followedAt + KNOWN_MS - REREAD_MS;
    let heardAt = Number.NEGATIVE_INFINITY;
    const untilReread = () => Math.max(readAt + REREAD_MS, heardAt + QUIET_MS) - clock.monotonic();
    let last = cursor.next;
    let newestAt = Number.NEGATIVE_INFINITY;
    while (!abort.aborted) {
      try {
        // Before the lines leave the buffer: a failure here must not lose them.
        if (feed.filled && agentOf(step) === "") step = await readStep(context, stepRunId);
        for (const part of feed.take()) {
          const lines = cursor.acceptPart(part);
          if (lines.length === 0) continue;
          heardAt = clock.monotonic();
          yield { type: "live", lines, agentId: agentOf(step) };
        }
        if (cursor.behind || feed.dropped() || untilReread() <= 0) {
          readAt = clock.monotonic();
          // The state is read first: a final state names the last line, and the read below can then find that line.
          step = await readStep(context, stepRunId);
          for await (const lines of readThrough(pages, stepRunId, cursor)) {
            yield { type: "live", lines, agentId: agentOf(step) };
          }
          if (cursor.next !== last) newestAt = clock.now();
          last = cursor.next;
          const end = await endOf(context, { step, cursor, steadySince: pages.steadySince, newestAt });
          for (const lost of cursor.pass(end)) yield { type: "live", lines: [lost], agentId: agentOf(step) };
          if (end.ended) return;
        }
      } catch (error) {
        if (!(error instanceof MillraceError && error.reason === "unavailable")) throw error;
        readAt = clock.monotonic();
        context.log.debug(
          { stepRunId, error: error.message },
          "the store is unavailable: a log is followed from the feed alone",
        );
      }
      await feed.changed.wait(Math.max(0, untilReread()), abort);
    }
  } finally {
    await unsubscribe?.().catch(() => {});
  }
}

/** The position of the follower: accepts each line once, in order. */
class LogCursor {
  next: number;
  /** True when a line above `next` was met: the lines in between have to be read from the store. */
  behind = false;

  constructor(next: number) {
    this.next = next;
  }

  /** The entry, cut to its new part. Empty for a repeat, and for an entry after a gap. */
  accept(entry: LogLine): readonly LogLine[] {
    const last = lastLineOf(entry);
    if (last < this.next) return [];
    if (entry.line > this.next) {
      this.behind = true;
      return [];
    }
    const fresh = entry.line === this.next ? entry : { ...entry, line: this.next, lost: last - this.next + 1 };
    this.next = last + 1;
    return [fresh];
  }

  /** The new entries of a part: the part itself when all of it is new. */
  acceptPart(part: LogPart): LogPart {
    if (part[0]!.line !== this.next) return part.flatMap((line) => this.accept(line));
    this.next = lastLineOf(part.at(-1)!) + 1;
    return part;
  }

  /** Passes over the lines that count as lost. Answers their gap record, when there is one. */
  pass({ lost }: EndOfLog): readonly LogLine[] {
    if (lost === undefined) return [];
    this.next += lost.lost;
    return [lost];
  }
}

interface EndOfLog {
  readonly ended: boolean;
  /** The gap record for lines that count as lost. */
  readonly lost?: LogLine;
  /** True when the step has ended and lines before its last one are not stored yet. */
  readonly isMissing?: boolean;
}

/** Lines that the feed has brought and the consumer has not taken. Bounded, since the store has every line. */
class FeedBuffer {
  readonly changed = new Signal();
  #parts: LogPart[] = [];
  #count = 0;
  #dropped = false;

  add(lines: readonly LogLine[]): void {
    if (this.#count + lines.length > FEED_BUFFER_LINES) {
      this.#parts = [];
      this.#count = 0;
      this.#dropped = true;
    } else {
      this.#parts.push(...partsOf(lines));
      this.#count += lines.length;
    }
    this.changed.raise();
  }

  get filled(): boolean {
    return this.#count > 0;
  }

  take(): readonly LogPart[] {
    const parts = this.#parts;
    this.#parts = [];
    this.#count = 0;
    return parts;
  }

  /** True once after lines were dropped. */
  dropped(): boolean {
    const dropped = this.#dropped;
    this.#dropped = false;
    return dropped;
  }
}

/** The lines that the store has from the cursor on, in parts. */
async function* readThrough(
  pages: LogPages,
  stepRunId: StepRunId,
  cursor: LogCursor,
): AsyncGenerator<LogPart, void, void> {
  cursor.behind = false;
  for (;;) {
    const { parts } = await pages.read(stepRunId, cursor.next);
    const from = cursor.next;
    for (const part of parts) {
      const lines = cursor.acceptPart(part);
      if (lines.length > 0) yield lines;
    }
    if (cursor.next === from) return;
  }
}

async function readStep(context: FollowingContext, stepRunId: StepRunId): Promise<StepState> {
  const location = await context.stores.aggregates.findStep(stepRunId);
  if (location === undefined) throw noStepRun(stepRunId);
  return location.actor.state as StepState;
}

interface FollowedLog {
  readonly step: StepState;
  readonly cursor: Pick<LogCursor, "next">;
  /** As {@link LogPages.steadySince}. */
  readonly steadySince: number;
  /** When the newest line came, by this node's clock. Absent while that is not known. */
  readonly newestAt?: number;
}

/** Whether the log has ended. Throws `not_found` when retention has deleted the missing lines. */
async function endOf(
  context: FollowingContext,
  { step, cursor, steadySince, newestAt = Number.NEGATIVE_INFINITY }: FollowedLog,
): Promise<EndOfLog> {
  if (isActiveStepStatus(stepStatus(step.state))) return { ended: false };
  // The step was never granted to an agent, so it has no log.
  if (step.grant === null && step.lastLine === null) return { ended: true };
  const missing = step.lastLine === null ? 0 : step.lastLine - cursor.next + 1;
  if (step.lastLine !== null && missing <= 0) return { ended: true };
  await requireKeptLog(context, step.runId, step.stepRunId);
  const waitingSince = Math.max(step.endedAt ?? 0, newestAt, steadySince);
  if (context.clock.now() - waitingSince < LATE_LINES_MS) return { ended: false, isMissing: missing > 0 };
  if (missing <= 0) return { ended: true };
  const lost: LogLine = {
    line: cursor.next,
    lost: missing,
    timeMs: step.endedAt ?? context.clock.now(),
    stream: "stderr",
    level: "warn",
    content: "",
  };
  return { ended: true, lost };
}

const agentOf = (step: StepState) => step.grant?.agentId ?? "";
