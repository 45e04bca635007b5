/** Stores log lines of agents, and then publishes them to live viewers. */
import type { AgentId, ProjectId, StepRunId } from "../../domain/ids.ts";
import { LOG_SLACK, LOG_TAIL } from "../../domain/retention.ts";
import { InTurn } from "../../domain/work/in-turn.ts";
import { logChannel } from "../../feed/feed.ts";
import {
  COLD_LOG_BYTES,
  isSmall,
  lastLineOf,
  type LogChunk,
  type LogLine,
  type LogSize,
  sizeOfLines,
} from "../../stores/ports/logs.ts";
import { loopShare } from "../../app/loop-share.ts";
import type { LogLimits } from "../log-limits.ts";
import type { IngestContext } from "./context.ts";
import { isGrantOf, type StepState } from "../../../actors/step/state.ts";

/** Bounds of one batch. */
const MAX_LINES = 1_000;
const MAX_BYTES = 1 << 20;
const MAX_LEVEL_LENGTH = 32;
/** The wire format of viewers has 32-bit line numbers. */
const MAX_LINE_NUMBER = 0x7fff_ffff;
/** A log with so many small chunks is worth joining. */
const SMALL_CHUNKS = 8;
/** From its last small chunk on, a log waits so long to be joined: by then its step has ended, or is silent. */
const JOIN_AFTER_MS = 60_000;
/** Steps whose grant one stream remembers. */
const REMEMBERED_STEPS = 1_000;

export interface LogBatch {
  readonly stepRunId: StepRunId;
  readonly token: number;
  /** As the agent sent them: not validated yet. */
  readonly lines: readonly LogLine[];
}

export type LogVerdict =
  /** All lines up to `storedThrough` are stored. */
  | { readonly verdict: "stored"; readonly storedThrough: number }
  /** The step is not granted to the agent under this token. */
  | { readonly verdict: "refused" }
  /** The batch is empty or too large, a number is out of range, or a line does not follow the line before. */
  | { readonly verdict: "invalid" };

/** What the store has of a log after the last batch, and what it takes of that log at most. */
interface Standing {
  /** All lines up to this number are stored. */
  readonly through: number;
  readonly size: LogSize;
  readonly most: LogSize;
  readonly projectId: ProjectId;
  /** Small chunks that the store was not told of, and the first line of the first one. */
  readonly small: { readonly chunks: number; readonly fromLine: number };
  /** The store was told of the log since it was large enough to be moved. */
  readonly isNoted: boolean;
}

/** One agent's stream of batches. Batches of different steps are stored at the same time, those of one step one by one. */
export class LogIngest {
  readonly #context: IngestContext;
  readonly #agentId: AgentId;
  readonly #limits: Pick<LogLimits, "of">;
  /** By step and token. */
  readonly #standings = new Map<string, Standing>();
  /** By step and token. */
  readonly #pushes = new InTurn();

  constructor(context: IngestContext, agentId: AgentId, limits: Pick<LogLimits, "of">) {
    this.#context = context;
    this.#agentId = agentId;
    this.#limits = limits;
  }

  /**
   * Stores a batch. Of a log that is beyond its limit, a gap record is stored in place of the lines: an agent that knows
   * the limit sends no such lines. Rejects when the store cannot be reached; then the batch must not be acknowledged.
   */
  push(batch: LogBatch): Promise<LogVerdict> {
    const key = `${batch.stepRunId}/${batch.token}`;
    return this.#pushes.run(key, () => this.#pushNext(key, batch));
  }

  async #pushNext(key: string, { stepRunId, token, lines: sent }: LogBatch): Promise<LogVerdict> {
    // The agent sends few further batches before the answer, so a wait here presses back to the step.
    await loopShare.enter();
    if (!isWellFormed(sent)) return { verdict: "invalid" };
    const before = this.#standings.get(key) ?? (await this.#begin(stepRunId, token));
    if (before === undefined) return { verdict: "refused" };
    const added = sizeOfLines(sent);
    const size = sum(before.size, added);
    const isBeyond = size.entries > before.most.entries || size.bytes > before.most.bytes;
    const lines = isBeyond ? [gapOver(sent)] : sent;
    const { logs } = this.#context.stores;
    const { projectId } = before;
    const small = withChunk(before.small, { line: lines[0]!.line, size: isBeyond ? undefined : added });
    const isNew = !before.isNoted && size.bytes >= COLD_LOG_BYTES && this.#context.coldLogs !== undefined;
    const isJoined = small.chunks >= SMALL_CHUNKS;
    const fromLine = small.chunks > 0 ? small.fromLine : lines[0]!.line;
    const joining = isNew || isJoined ? this.#joiningFrom(fromLine) : undefined;
    const through = await logs.append({ stepRunId, agentId: this.#agentId, projectId, lines, ...joining });
    const isStored = through > before.through && !isBeyond;
    if (isStored) this.#count(added);
    const counted = { size, small: isJoined ? NO_CHUNKS : small, isNoted: before.isNoted || isNew };
    this.#remember(key, { ...before, through, ...(isStored ? counted : {}) });
    // Viewers read a gap record that grows from the store, once a second.
    if (!isBeyond) this.#publish(stepRunId, lines, before.through, through);
    return { verdict: "stored", storedThrough: through };
  }

  /**
   * Looks up the grant, once for each step run, which is granted only once. A final step still takes lines, which may
   * arrive after its end.
   */
  async #begin(stepRunId: StepRunId, token: number): Promise<Standing | undefined> {
    const { aggregates, logs } = this.#context.stores;
    const location = await aggregates.findStep(stepRunId);
    if (location === undefined || !isGrantOf(location.actor.state as StepState, this.#agentId, token)) return undefined;
    const head = await aggregates.loadHead(location.runId);
    if (head === undefined) return undefined;
    const { projectId } = head.summary;
    const limit = await this.#limits.of(projectId);
    return {
      projectId,
      small: NO_CHUNKS,
      isNoted: false,
      through: await logs.storedThrough(stepRunId),
      size: await logs.size(stepRunId),
      most: {
        entries: limit.lines + LOG_TAIL.lines + LOG_SLACK.lines,
        bytes: limit.bytes + LOG_TAIL.bytes + LOG_SLACK.bytes,
      },
    };
  }

  /** What the store is told now and then, so that it costs a chunk nothing. */
  #joiningFrom(fromLine: number): Pick<LogChunk, "joining"> {
    const { clock, coldLogs } = this.#context;
    return { joining: { fromLine, dueAt: clock.now() + Math.min(JOIN_AFTER_MS, coldLogs?.afterMs ?? JOIN_AFTER_MS) } };
  }

  #count({ entries, bytes }: LogSize): void {
    const totals = this.#context.meters?.totals;
    if (totals === undefined) return;
    totals.lines += entries;
    totals.bytes += bytes;
  }

  #remember(key: string, standing: Standing): void {
    this.#standings.delete(key);
    this.#standings.set(key, standing);
    if (this.#standings.size > REMEMBERED_STEPS) this.#standings.delete(this.#standings.keys().next().value!);
  }

  /** Publishes the lines that this batch has added to those who follow the log. A viewer that misses them reads the store. */
  #publish(stepRunId: StepRunId, lines: readonly LogLine[], before: number, storedThrough: number): void {
    const { feed, log } = this.#context;
    const channel = logChannel(stepRunId);
    if (!feed.isFollowed(channel)) return;
    const fresh = lines.filter((line) => line.line <= storedThrough && lastLineOf(line) > before);
    if (fresh.length === 0) return;
    feed.publish(channel, fresh).catch((error: unknown) => {
      log.debug({ stepRunId, error: String(error) }, "log lines could not be published");
    });
  }
}

function sum(one: LogSize, other: LogSize): LogSize {
  return { entries: one.entries + other.entries, bytes: one.bytes + other.bytes };
}

const NO_CHUNKS: Standing["small"] = { chunks: 0, fromLine: 0 };

/** With a further chunk that begins with `line`; `size` is undefined for a gap record. */
function withChunk(
  { chunks, fromLine }: Standing["small"],
  { line, size }: { readonly line: number; readonly size: LogSize | undefined },
): Standing["small"] {
  if (size === undefined || !isSmall({ lines: size.entries, bytes: size.bytes })) return { chunks, fromLine };
  return { chunks: chunks + 1, fromLine: chunks === 0 ? line : fromLine };
}

/** A gap record in place of these lines. */
function gapOver(lines: readonly LogLine[]): LogLine {
  const { line, timeMs, stream } = lines[0]!;
  return { line, timeMs, stream, level: "warn", content: "", lost: lastLineOf(lines.at(-1)!) - line + 1 };
}

function isWellFormed(lines: readonly LogLine[]): boolean {
  if (lines.length === 0 || lines.length > MAX_LINES) return false;
  let expected = lines[0]!.line;
  let bytes = 0;
  for (const entry of lines) {
    if (entry.line !== expected || entry.line < 1 || entry.lost < 0) return false;
    if (!(entry.timeMs >= 0 && entry.timeMs <= Number.MAX_SAFE_INTEGER)) return false;
    if (entry.level.length > MAX_LEVEL_LENGTH) return false;
    expected = lastLineOf(entry) + 1;
    bytes += Buffer.byteLength(entry.content) + Buffer.byteLength(entry.level);
  }
  return expected - 1 <= MAX_LINE_NUMBER && bytes <= MAX_BYTES;
}
