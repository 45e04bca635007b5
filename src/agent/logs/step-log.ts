/**
 * The log of one step run in the agent. Each line gets its number once, in the order of arrival, and is kept until the
 * control plane has stored it. The oldest lines are in memory, later ones may be in segments on the disk, and the
 * newest are in memory again. This class only keeps account: the log shipper sends the lines, and decides when memory
 * or disk is full.
 */
import type { LogLine, LogStream } from "../../../proto/generated/gateway/v1/gateway.ts";
import { countLines, type LogTail } from "./log-tail.ts";
import { lastLineOf, type LogSpill, type Segment } from "./log-spill.ts";

/** Approximate memory of an entry in addition to its text. */
const ENTRY_BYTES = 128;
/** Upper bound of a segment, measured by the memory that its lines took. */
export const SEGMENT_BYTES = 1024 * 1024;

/**
 * The greatest number that lines beyond the limit get; the control plane takes no number of more than 31 bits. A step
 * reaches it only when it writes two thousand million lines. Its further lines are not counted.
 */
const LAST_COUNTED = 0x7fff_ffffn - 20_000n;

/** The grant to which the lines belong. */
export interface LogOwner {
  readonly runId: string;
  readonly stepRunId: string;
  readonly token: bigint;
}

/** How much of a log is sent, and how much of its end beyond that. */
export interface StepLogLimit {
  readonly lines: number;
  readonly bytes: number;
  readonly tailLines: number;
  readonly tailBytes: number;
}

interface SentBatch {
  readonly lines: readonly LogLine[];
  readonly bytes: number;
  /** False once its lines must be sent again: the answer to this batch is ignored then. */
  isValid: boolean;
}

export class StepLog {
  readonly owner: LogOwner;
  /** Names the log among those of the agent. */
  readonly key: string;
  /** True once the step has ended and no line follows. */
  ended = false;
  readonly #spill: LogSpill;
  /**
   * The oldest lines that are not known to be stored, ascending and without holes. The lines of `#segments` follow
   * them, and then those of `#newest`.
   */
  #entries: LogLine[] = [];
  #segments: Segment[] = [];
  /** Lines that arrived after the first segment was written. */
  #newest: LogLine[] = [];
  /** How many entries from the front are sent and not answered. */
  #sent = 0;
  /** How many entries from the front were sent at least once. */
  #everSent = 0;
  #inFlight: SentBatch[] = [];
  #inFlightBytes = 0;
  #next = 1n;
  #bytes = 0;
  #newestBytes = 0;
  #unsentBytes = 0;
  #spilledBytes = 0;
  /** Undefined for a log without a limit, and once the tail was added. */
  #limit: StepLogLimit | undefined;
  #limitedBytes = 0;
  /** The newest lines beyond the limit, from line `#tailFrom` on. */
  #tail: LogTail | undefined;
  #tailFrom = 0n;

  constructor(owner: LogOwner, spill: LogSpill, limit?: StepLogLimit) {
    this.owner = owner;
    this.key = keyOf(owner);
    this.#spill = spill;
    this.#limit = limit;
  }

  /** The number of the last line, including lost lines; 0 when there is none. */
  get lastLine(): bigint {
    return this.#next - 1n;
  }

  /** Approximate memory of the entries. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The part of {@link bytes} that is not sent. Further unsent lines may be on the disk. */
  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  /** Size of the segments on the disk. */
  get spilledBytes(): number {
    return this.#spilledBytes;
  }

  /** Size of the files with the newest lines beyond the limit. */
  get tailBytes(): number {
    return this.#tail?.diskBytes ?? 0;
  }

  /** True while further lines are only counted, and the newest of them are kept aside. */
  get isBeyondLimit(): boolean {
    return this.#tail !== undefined;
  }

  get hasUnsent(): boolean {
    return this.#unsentBytes > 0 || this.#segments.length > 0;
  }

  /** How many batches are sent and not answered. */
  get batchesInFlight(): number {
    return this.#inFlight.length;
  }

  get inFlightBytes(): number {
    return this.#inFlightBytes;
  }

  get isStored(): boolean {
    return this.#bytes === 0 && this.#segments.length === 0 && this.#tail === undefined;
  }

  /**
   * Adds a line. `diskRoom` is how many bytes the files of the newest lines may take together. Beyond the limit, `level`
   * is not kept.
   */
  add(stream: LogStream, content: string, timeMs: number, diskRoom = Number.POSITIVE_INFINITY, level = "info"): void {
    if (this.#limit !== undefined && this.#tail === undefined) this.#checkLimit(this.#limit, content, timeMs);
    if (this.#tail === undefined) {
      return this.#append({ ...lineOf(stream, content, timeMs), level, line: this.#next++ });
    }
    const bytes = Buffer.from(`${content}\n`);
    this.#countBeyond(1);
    this.#tail.add({ stream, timeMs, bytes, lines: 1, isCut: true }, diskRoom);
  }

  /** Adds whole lines, each with its line feed, to a log that is beyond its limit. */
  addBlock(stream: LogStream, bytes: Buffer, timeMs: number, diskRoom: number): void {
    const lines = countLines(bytes);
    this.#countBeyond(lines);
    this.#tail?.add({ stream, timeMs, bytes, lines }, diskRoom);
  }

  /**
   * Adds the newest lines of a log that is beyond its limit, behind a gap record for the lines that were not kept. From
   * then on the log has no limit. No effect on a log that is within its limit.
   */
  endTail(): void {
    if (this.#tail === undefined) return;
    const lines = this.#tail.take();
    this.#tail = undefined;
    this.#limit = undefined;
    let line = this.#next - BigInt(lines.length);
    const first = lines[0] ?? { stream: "LOG_STREAM_STDERR", timeMs: Date.now() };
    if (line > this.#tailFrom) {
      const at = { line: this.#tailFrom, timeMs: BigInt(first.timeMs), stream: first.stream };
      this.#append(gapOf(at, line - this.#tailFrom));
    }
    for (const { stream, content, timeMs } of lines) {
      this.#append({ ...lineOf(stream, content, timeMs), line: line++ });
    }
  }

  /** Opens the ring of newest lines when this line is beyond the limit, and says so in the log. */
  #checkLimit(limit: StepLogLimit, content: string, timeMs: number): void {
    const bytes = this.#limitedBytes + Buffer.byteLength(content);
    if (this.#next <= BigInt(limit.lines) && bytes <= limit.bytes) {
      this.#limitedBytes = bytes;
      return;
    }
    const notice =
      `millrace: this log has reached its limit of ${limit.lines} lines and ${limit.bytes} bytes: of what follows, ` +
      `the newest ${limit.tailLines} lines are added when the step has ended`;
    this.#append({ ...lineOf("LOG_STREAM_STDERR", notice, timeMs), line: this.#next++, level: "warn" });
    this.#tail = this.#spill.openTail({ lines: limit.tailLines, bytes: limit.tailBytes });
    this.#tailFrom = this.#next;
  }

  #countBeyond(lines: number): void {
    const next = this.#next + BigInt(lines);
    this.#next = next > LAST_COUNTED ? LAST_COUNTED : next;
  }

  #append(entry: LogLine): void {
    const cost = costOf(entry);
    this.#bytes += cost;
    this.#unsentBytes += cost;
    if (this.#segments.length === 0) {
      this.#entries.push(entry);
    } else {
      this.#newest.push(entry);
      this.#newestBytes += cost;
    }
  }

  /** Takes the next unsent entries for a batch: at most `maxLines`, and about `maxBytes`. Empty when all are sent. */
  take(maxLines: number, maxBytes: number): LogLine[] {
    if (this.#sent === this.#entries.length) this.#readOldestSegment();
    const lines: LogLine[] = [];
    let bytes = 0;
    while (this.#sent < this.#entries.length && lines.length < maxLines && bytes < maxBytes) {
      const entry = this.#entries[this.#sent++]!;
      lines.push(entry);
      bytes += costOf(entry);
    }
    if (lines.length === 0) return lines;
    this.#everSent = Math.max(this.#everSent, this.#sent);
    this.#unsentBytes -= bytes;
    this.#inFlight.push({ lines, bytes, isValid: true });
    this.#inFlightBytes += bytes;
    return lines;
  }

  /**
   * Handles the answer to the oldest unanswered batch: all lines up to `through` are stored. Returns `missed` if the
   * batch is not among them; then its lines and the lines after them must be sent again.
   */
  acknowledge(through: bigint): "stored" | "missed" {
    this.#dropThrough(through);
    const oldest = this.#removeOldestBatch();
    if (oldest === undefined || !oldest.isValid || lastLineOf(oldest.lines.at(-1)!) <= through) return "stored";
    this.#fillHole(through);
    this.#sendAgain();
    return "missed";
  }

  /**
   * Handles the answer that the control plane cannot take the oldest unanswered batch. A gap record replaces its lines.
   * Returns false if the batch was a gap record already.
   */
  discard(): boolean {
    const oldest = this.#removeOldestBatch();
    if (oldest === undefined || !oldest.isValid) return true;
    if (oldest.lines.length === 1 && oldest.lines[0]!.lost > 0n) return false;
    const from = this.#entries.indexOf(oldest.lines[0]!);
    if (from !== -1) this.#replaceByGap(from, from + oldest.lines.length);
    this.#sendAgain();
    return true;
  }

  /** The stream has ended. All unanswered lines must be sent again. */
  disconnect(): void {
    this.#sendAgain();
    this.#inFlight = [];
    this.#inFlightBytes = 0;
  }

  /**
   * Memory that {@link moveToDisk} can free. Lines that were sent once stay in memory: their answer may still arrive.
   */
  get movableBytes(): number {
    if (this.#segments.length > 0) return this.#newestBytes;
    // Few lines are sent again, and many may never have been sent.
    return this.#unsentBytes - costOfAll(this.#entries.slice(this.#sent, this.#everSent));
  }

  /** Writes the oldest movable lines as one segment. Throws when the disk refuses them. */
  moveToDisk(): void {
    const isFirst = this.#segments.length === 0;
    const movable = isFirst ? this.#entries.slice(this.#everSent) : this.#newest;
    let count = 0;
    let cost = 0;
    while (count < movable.length && cost < SEGMENT_BYTES) cost += costOf(movable[count++]!);
    if (count === 0) return;
    const segment = this.#spill.write(movable.slice(0, count));
    this.#segments.push(segment);
    this.#spilledBytes += segment.bytes;
    this.#bytes -= cost;
    this.#unsentBytes -= cost;
    this.#newest = movable.slice(count);
    this.#newestBytes = costOfAll(this.#newest);
    if (isFirst) this.#entries.length = this.#everSent;
  }

  /** Replaces the oldest segment by a gap record. No effect when there is none. */
  dropOldestSegment(): void {
    const segment = this.#segments.shift();
    if (segment === undefined) return;
    this.#forget(segment);
    this.#addGap(segment);
    this.#appendNewest();
  }

  /**
   * Replaces the oldest entries in memory that were never sent by one gap record, so that about `bytes` are freed. An
   * entry that was sent once may be stored, so a gap record over it could contradict the store.
   */
  dropOldest(bytes: number): void {
    let end = this.#everSent;
    for (let freed = 0; freed < bytes && end < this.#entries.length; end++) freed += costOf(this.#entries[end]!);
    // Replacing one entry frees nothing, since the gap record costs as much.
    if (end - this.#everSent >= 2) this.#replaceByGap(this.#everSent, end);
  }

  /** Removes the segments from the disk. The log must not be used afterwards. */
  dispose(): void {
    this.#tail?.dispose();
    for (const segment of this.#segments.splice(0)) this.#forget(segment);
  }

  /**
   * Reads the oldest segment into memory, because its lines are the next to send. A gap record replaces a damaged one.
   */
  #readOldestSegment(): void {
    const segment = this.#segments.shift();
    if (segment === undefined) return;
    try {
      const lines = this.#spill.read(segment);
      const cost = costOfAll(lines);
      this.#entries.push(...lines);
      this.#bytes += cost;
      this.#unsentBytes += cost;
    } catch {
      this.#addGap(segment);
    }
    this.#forget(segment);
    this.#appendNewest();
  }

  #forget(segment: Segment): void {
    this.#spilledBytes -= segment.bytes;
    this.#spill.remove(segment);
  }

  /** Appends the newest lines to the entries once no segment is left between them. */
  #appendNewest(): void {
    if (this.#segments.length > 0) return;
    for (const entry of this.#newest) this.#entries.push(entry);
    this.#newest = [];
    this.#newestBytes = 0;
  }

  /**
   * Adds a gap record after the entries, for the lines of a lost segment. If the last entry is a gap record that was
   * never sent, that record is extended instead.
   */
  #addGap({ first, last }: Segment): void {
    const before = this.#entries.at(-1);
    if (before !== undefined && before.lost > 0n && this.#entries.length > this.#everSent) {
      this.#entries[this.#entries.length - 1] = { ...before, lost: last - before.line + 1n };
      return;
    }
    const gap = gapOf({ line: first, timeMs: before?.timeMs ?? 0n, stream: "LOG_STREAM_STDERR" }, last - first + 1n);
    this.#entries.push(gap);
    this.#bytes += costOf(gap);
    this.#unsentBytes += costOf(gap);
  }

  /**
   * Adds a gap record before the entries if the control plane lacks lines that it acknowledged earlier, as it does
   * after it was restored from a backup.
   */
  #fillHole(through: bigint): void {
    const first = this.#entries[0]!;
    const lost = first.line - through - 1n;
    if (lost <= 0n) return;
    const gap = gapOf({ ...first, line: through + 1n }, lost);
    this.#entries.unshift(gap);
    this.#bytes += costOf(gap);
    this.#everSent++;
  }

  #removeOldestBatch(): SentBatch | undefined {
    const oldest = this.#inFlight.shift();
    this.#inFlightBytes -= oldest?.bytes ?? 0;
    return oldest;
  }

  #replaceByGap(from: number, to: number): void {
    const [first, last] = [this.#entries[from]!, this.#entries[to - 1]!];
    const gap = gapOf(first, lastLineOf(last) - first.line + 1n);
    const removed = this.#entries.splice(from, to - from, gap);
    const difference = costOf(gap) - costOfAll(removed);
    this.#bytes += difference;
    if (from >= this.#sent) this.#unsentBytes += difference;
    else this.#sent -= removed.length - 1;
    if (from < this.#everSent) this.#everSent -= removed.length - 1;
  }

  #dropThrough(through: bigint): void {
    let count = 0;
    for (; count < this.#entries.length && lastLineOf(this.#entries[count]!) <= through; count++) {
      const cost = costOf(this.#entries[count]!);
      this.#bytes -= cost;
      if (count >= this.#sent) this.#unsentBytes -= cost;
    }
    if (count === 0) return;
    this.#entries.splice(0, count);
    this.#sent = Math.max(0, this.#sent - count);
    this.#everSent = Math.max(0, this.#everSent - count);
  }

  #sendAgain(): void {
    this.#sent = 0;
    this.#unsentBytes = this.#bytes;
    for (const batch of this.#inFlight) batch.isValid = false;
  }
}

/** Equal for equal grants. */
export function keyOf({ stepRunId, token }: Pick<LogOwner, "stepRunId" | "token">): string {
  return `${stepRunId}/${token}`;
}

function lineOf(stream: LogStream, content: string, timeMs: number): Omit<LogLine, "line"> {
  return { timeMs: BigInt(timeMs), stream, level: "info", content, lost: 0n };
}

function gapOf(at: Pick<LogLine, "line" | "timeMs" | "stream">, lost: bigint): LogLine {
  const { line, timeMs, stream } = at;
  return { line, timeMs, stream, level: "warn", content: "", lost };
}

function costOfAll(entries: readonly LogLine[]): number {
  return entries.reduce((sum, entry) => sum + costOf(entry), 0);
}

function costOf(entry: LogLine): number {
  return ENTRY_BYTES + entry.content.length;
}
