/**
 * The log of a step run as a viewer follows it: history, then live lines, each once and in order. The store is the
 * truth; the feed only says sooner what is new.
 */
import { type StepState, stepStatus } from "../../../actors/step/state.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { StepRunId } from "../../domain/ids.ts";
import { isActiveStepStatus } from "../../domain/status.ts";
import { logChannel } from "../../feed/feed.ts";
import { lastLineOf, type LogLine } from "../../stores/ports/logs.ts";
import type { FollowingContext } from "./context.ts";
import { requireLog } from "../runs/dropped-parts.ts";
import { Signal } from "../signal.ts";
import { noStepRun } from "../step-runs.ts";

/** Entries of one piece of news, at most, as viewers get the history; a consumer may stop after any piece. */
const PIECE_LINES = 200;
const REREAD_MS = 1_000;
/** How long after the end of a step its last lines may take to arrive before they count as lost. */
const LATE_LINES_MS = 30_000;
const FEED_BUFFER_LINES = 2_000;

export type LogNews =
  | { readonly type: "history" | "live"; readonly lines: readonly LogLine[]; readonly agentId: string }
  | { readonly type: "historyDone" };

interface LogFollowing {
  readonly stepRunId: StepRunId;
  /** Inclusive, from 1. */
  readonly fromLine: number;
  readonly abort: AbortSignal;
}

/**
 * Ends when the step is final and its last line was given, or 30 s after its end with a record of the gap. Nothing is
 * read ahead of the consumer. Once history is done, a store that is away only delays the lines. Throws `not_found`, also for a
 * log that was removed.
 */
export async function* followLog(context: FollowingContext, following: LogFollowing): AsyncGenerator<LogNews, void, void> {
  const { stepRunId, abort } = following;
  const feed = new FeedBuffer();
  // Subscribed before anything is read, so that no line falls between history and live.
  const unsubscribe = await context.feed
    .subscribe(logChannel(stepRunId), (payload) => feed.add(payload as readonly LogLine[]))
    .catch(() => undefined);
  try {
    const cursor = new LogCursor(following.fromLine);
    let step = await readStep(context, stepRunId);
    for await (const lines of readThrough(context, stepRunId, cursor)) {
      yield { type: "history", lines, agentId: agentOf(step) };
    }
    const early = await endOf(context, step, cursor);
    if (early.lost !== undefined) yield { type: "history", lines: [early.lost], agentId: agentOf(step) };
    yield { type: "historyDone" };
    if (early.ended) return;

    let readAt = Number.NEGATIVE_INFINITY;
    while (!abort.aborted) {
      try {
        // Before the lines are taken: what fails here must lose none of them.
        if (feed.filled && agentOf(step) === "") step = await readStep(context, stepRunId);
        const fresh = feed.take().flatMap((line) => cursor.accept(line));
        for (const lines of piecesOf(fresh)) yield { type: "live", lines, agentId: agentOf(step) };
        if (cursor.behind || feed.dropped() || context.clock.monotonic() - readAt >= REREAD_MS) {
          readAt = context.clock.monotonic();
          // The state first: a final report comes after its lines, so what it promises can be looked for below.
          step = await readStep(context, stepRunId);
          for await (const lines of readThrough(context, stepRunId, cursor)) {
            yield { type: "live", lines, agentId: agentOf(step) };
          }
          const end = await endOf(context, step, cursor);
          if (end.lost !== undefined) yield { type: "live", lines: [end.lost], agentId: agentOf(step) };
          if (end.ended) return;
        }
      } catch (error) {
        if (!(error instanceof MillraceError && error.reason === "unavailable")) throw error;
        context.log.debug({ stepRunId, error: error.message }, "a log is followed without the store");
      }
      await feed.changed.wait(REREAD_MS, abort);
    }
  } finally {
    await unsubscribe?.().catch(() => {});
  }
}

/** Where the reader stands: lets each line through once, in order. */
class LogCursor {
  next: number;
  /** True when a line above `next` was met: the lines between are to be had from the store. */
  behind = false;

  constructor(next: number) {
    this.next = next;
  }

  /** The entry, cut to what is new; nothing for a repeat or for one that comes too early. */
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
}

/** What the feed brought since the last look; bounded, since all of it can be read from the store. */
class FeedBuffer {
  readonly changed = new Signal();
  #lines: LogLine[] = [];
  #dropped = false;

  add(lines: readonly LogLine[]): void {
    if (this.#lines.length + lines.length > FEED_BUFFER_LINES) {
      this.#lines = [];
      this.#dropped = true;
    } else {
      this.#lines.push(...lines);
    }
    this.changed.raise();
  }

  get filled(): boolean {
    return this.#lines.length > 0;
  }

  take(): readonly LogLine[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }

  /** True once after lines were dropped. */
  dropped(): boolean {
    const dropped = this.#dropped;
    this.#dropped = false;
    return dropped;
  }
}

function* piecesOf(lines: readonly LogLine[]): Generator<readonly LogLine[]> {
  for (let from = 0; from < lines.length; from += PIECE_LINES) yield lines.slice(from, from + PIECE_LINES);
}

/** Everything that the store has from the cursor on, in chunks. */
async function* readThrough(
  context: FollowingContext,
  stepRunId: StepRunId,
  cursor: LogCursor,
): AsyncGenerator<readonly LogLine[], void, void> {
  cursor.behind = false;
  for (;;) {
    const stored = await context.stores.logs.read(stepRunId, cursor.next, PIECE_LINES);
    const lines = stored.flatMap((line) => cursor.accept(line));
    if (lines.length > 0) yield lines;
    if (lines.length === 0 || stored.length < PIECE_LINES) return;
  }
}

async function readStep(context: FollowingContext, stepRunId: StepRunId): Promise<StepState> {
  const location = await context.stores.aggregates.findStep(stepRunId);
  if (location === undefined) throw noStepRun(stepRunId);
  return location.actor.state as StepState;
}

/** Throws `not_found` when what is missing was removed. */
async function endOf(
  context: FollowingContext,
  step: StepState,
  cursor: LogCursor,
): Promise<{ readonly ended: boolean; readonly lost?: LogLine }> {
  if (isActiveStepStatus(stepStatus(step.state))) return { ended: false };
  // Never given to an agent: there is no log.
  if (step.grant === null && step.lastLine === null) return { ended: true };
  const missing = step.lastLine === null ? 0 : step.lastLine - cursor.next + 1;
  if (step.lastLine !== null && missing <= 0) return { ended: true };
  await requireLog(context, step.runId, step.stepRunId);
  if (context.clock.now() - (step.endedAt ?? 0) < LATE_LINES_MS) return { ended: false };
  if (missing <= 0) return { ended: true };
  const lost: LogLine = {
    line: cursor.next,
    lost: missing,
    timeMs: step.endedAt ?? context.clock.now(),
    stream: "stderr",
    level: "warn",
    content: "",
  };
  cursor.next += missing;
  return { ended: true, lost };
}

const agentOf = (step: StepState) => step.grant?.agentId ?? "";
