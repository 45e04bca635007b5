/**
 * The log of one step run as the agent holds it: lines numbered once, in the order of their arrival, and kept until the
 * control plane has stored them: the oldest in memory, then segments on the disk, then the newest in memory again. Pure
 * bookkeeping; the log shipper sends, and says when memory or the disk is full.
 */
import type { LogLine, LogStream } from "../../../proto/generated/gateway/v1/gateway.ts";
import { lastLineOf, type LogSpill, type Segment } from "./log-spill.ts";

/** What an entry costs in memory beside its text, about. */
const ENTRY_BYTES = 128;
/** What one segment holds at most, counted as in memory. */
export const SEGMENT_BYTES = 1024 * 1024;

/** Which grant the lines belong to. */
export interface LogOwner {
  readonly runId: string;
  readonly stepRunId: string;
  readonly token: bigint;
}

interface SentBatch {
  readonly lines: readonly LogLine[];
  readonly bytes: number;
  /** False once its lines have been taken back to be sent again. */
  counts: boolean;
}

export class StepLog {
  readonly owner: LogOwner;
  /** True once the step is over: no line follows. */
  ended = false;
  readonly #spill: LogSpill;
  /** Ascending and without holes; with what lies in segments and what follows them, all that is not known to be stored. */
  #entries: LogLine[] = [];
  #segments: Segment[] = [];
  /** What has come since there are segments. */
  #newest: LogLine[] = [];
  /** How many entries from the front are on their way, and how many ever were. */
  #sent = 0;
  #tried = 0;
  #inFlight: SentBatch[] = [];
  #inFlightBytes = 0;
  #next = 1n;
  #bytes = 0;
  #newestBytes = 0;
  #unsentBytes = 0;
  #spilledBytes = 0;

  constructor(owner: LogOwner, spill: LogSpill) {
    this.owner = owner;
    this.#spill = spill;
  }

  /** The number of the last line, lost ones included; 0 when there is none. */
  get lastLine(): bigint {
    return this.#next - 1n;
  }

  /** Memory that the entries take, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Of those, what is not on its way; there may be more on the disk. */
  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  /** What lies on the disk. */
  get spilledBytes(): number {
    return this.#spilledBytes;
  }

  get hasUnsent(): boolean {
    return this.#unsentBytes > 0 || this.#segments.length > 0;
  }

  /** Batches that have not been answered. */
  get batchesInFlight(): number {
    return this.#inFlight.length;
  }

  get inFlightBytes(): number {
    return this.#inFlightBytes;
  }

  get isStored(): boolean {
    return this.#bytes === 0 && this.#segments.length === 0;
  }

  add(stream: LogStream, content: string, timeMs: number): void {
    const entry: LogLine = { line: this.#next++, timeMs: BigInt(timeMs), stream, level: "info", content, lost: 0n };
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

  /** Takes the next entries to send, at most `maxLines` and about `maxBytes`; none when all are on their way. */
  take(maxLines: number, maxBytes: number): LogLine[] {
    if (this.#sent === this.#entries.length) this.#bringBack();
    const lines: LogLine[] = [];
    let bytes = 0;
    while (this.#sent < this.#entries.length && lines.length < maxLines && bytes < maxBytes) {
      const entry = this.#entries[this.#sent++]!;
      lines.push(entry);
      bytes += costOf(entry);
    }
    if (lines.length === 0) return lines;
    this.#tried = Math.max(this.#tried, this.#sent);
    this.#unsentBytes -= bytes;
    this.#inFlight.push({ lines, bytes, counts: true });
    this.#inFlightBytes += bytes;
    return lines;
  }

  /**
   * The answer to the oldest batch on its way: all up to `through` is stored. `missed` when the batch is not; then its
   * lines, and those that followed it, are to be sent again.
   */
  acknowledge(through: bigint): "stored" | "missed" {
    this.#dropThrough(through);
    const oldest = this.#land();
    if (oldest === undefined || !oldest.counts || lastLineOf(oldest.lines.at(-1)!) <= through) return "stored";
    this.#closeHole(through);
    this.#sendAgain();
    return "missed";
  }

  /** The answer to the oldest batch on its way: the plane cannot take it. Its lines become a gap record; false when they are one. */
  discard(): boolean {
    const oldest = this.#land();
    if (oldest === undefined || !oldest.counts) return true;
    if (oldest.lines.length === 1 && oldest.lines[0]!.lost > 0n) return false;
    const from = this.#entries.indexOf(oldest.lines[0]!);
    if (from !== -1) this.#replaceByGap(from, from + oldest.lines.length);
    this.#sendAgain();
    return true;
  }

  /** The stream is gone: whatever was on its way is to be sent again. */
  disconnect(): void {
    this.#sendAgain();
    this.#inFlight = [];
    this.#inFlightBytes = 0;
  }

  /** Memory that {@link moveToDisk} can free. What was sent once stays: it may be acknowledged at any time. */
  get movableBytes(): number {
    if (this.#segments.length > 0) return this.#newestBytes;
    return this.#tried === 0 ? this.#bytes : costOfAll(this.#entries.slice(this.#tried));
  }

  /** Writes the oldest of what can be moved as one segment. Throws when the disk takes no more. */
  moveToDisk(): void {
    const isFirst = this.#segments.length === 0;
    const movable = isFirst ? this.#entries.slice(this.#tried) : this.#newest;
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
    if (isFirst) this.#entries.length = this.#tried;
  }

  /** Removes the oldest segment, and leaves a gap record in its place. Nothing happens when there is none. */
  dropOldestSegment(): void {
    const segment = this.#segments.shift();
    if (segment === undefined) return;
    this.#forget(segment);
    this.#addGap(segment);
    this.#closeUp();
  }

  /**
   * Replaces the oldest entries in memory that were never sent by one gap record, until about `bytes` are free. Entries
   * that were sent once may be stored, so a gap record over them could contradict the store.
   */
  dropOldest(bytes: number): void {
    let end = this.#tried;
    for (let freed = 0; freed < bytes && end < this.#entries.length; end++) freed += costOf(this.#entries[end]!);
    // One entry alone frees nothing: the record in its place costs as much.
    if (end - this.#tried >= 2) this.#replaceByGap(this.#tried, end);
  }

  /** Removes what lies on the disk; the log is over. */
  dispose(): void {
    for (const segment of this.#segments.splice(0)) this.#forget(segment);
  }

  /** Reads the oldest segment into memory, as its turn has come; what cannot be read is lost. */
  #bringBack(): void {
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
    this.#closeUp();
  }

  #forget(segment: Segment): void {
    this.#spilledBytes -= segment.bytes;
    this.#spill.remove(segment);
  }

  /** What follows the segments follows the entries once there are none. */
  #closeUp(): void {
    if (this.#segments.length > 0) return;
    for (const entry of this.#newest) this.#entries.push(entry);
    this.#newest = [];
    this.#newestBytes = 0;
  }

  /** Stands for lines that would follow the entries; makes a gap that is there already wider, unless that may be stored. */
  #addGap({ first, last }: Segment): void {
    const before = this.#entries.at(-1);
    if (before !== undefined && before.lost > 0n && this.#entries.length > this.#tried) {
      this.#entries[this.#entries.length - 1] = { ...before, lost: last - before.line + 1n };
      return;
    }
    const gap = gapOf({ line: first, timeMs: before?.timeMs ?? 0n, stream: "LOG_STREAM_STDERR" }, last - first + 1n);
    this.#entries.push(gap);
    this.#bytes += costOf(gap);
    this.#unsentBytes += costOf(gap);
  }

  /** A plane that came back from a backup no longer has what it said it had stored: a gap record takes its place. */
  #closeHole(through: bigint): void {
    const first = this.#entries[0]!;
    const lost = first.line - through - 1n;
    if (lost <= 0n) return;
    const gap = gapOf({ ...first, line: through + 1n }, lost);
    this.#entries.unshift(gap);
    this.#bytes += costOf(gap);
    this.#tried++;
  }

  #land(): SentBatch | undefined {
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
    if (from < this.#tried) this.#tried -= removed.length - 1;
  }

  #dropThrough(through: bigint): void {
    let count = 0;
    while (count < this.#entries.length && lastLineOf(this.#entries[count]!) <= through) count++;
    if (count === 0) return;
    for (const [index, entry] of this.#entries.splice(0, count).entries()) {
      const cost = costOf(entry);
      this.#bytes -= cost;
      if (index >= this.#sent) this.#unsentBytes -= cost;
    }
    this.#sent = Math.max(0, this.#sent - count);
    this.#tried = Math.max(0, this.#tried - count);
  }

  #sendAgain(): void {
    this.#sent = 0;
    this.#unsentBytes = this.#bytes;
    for (const batch of this.#inFlight) batch.counts = false;
  }
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
