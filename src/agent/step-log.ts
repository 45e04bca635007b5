/**
 * The log of one step run as the agent holds it: lines numbered once, in the order of their arrival, and kept until the
 * control plane has stored them. Pure bookkeeping; the log shipper sends.
 */
import type { LogLine, LogStream } from "../../proto/generated/gateway/v1/gateway.ts";

/** What an entry costs in memory beside its text, about. */
const ENTRY_BYTES = 128;

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
  /** Ascending and without holes: all that is not known to be stored. */
  #entries: LogLine[] = [];
  /** How many entries from the front are on their way, and how many ever were. */
  #sent = 0;
  #tried = 0;
  #inFlight: SentBatch[] = [];
  #inFlightBytes = 0;
  #next = 1n;
  #bytes = 0;
  #unsentBytes = 0;

  constructor(owner: LogOwner) {
    this.owner = owner;
  }

  /** The number of the last line, lost ones included; 0 when there is none. */
  get lastLine(): bigint {
    return this.#next - 1n;
  }

  /** Memory that the entries take, about. */
  get bytes(): number {
    return this.#bytes;
  }

  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  /** Batches that have not been answered. */
  get batchesInFlight(): number {
    return this.#inFlight.length;
  }

  get inFlightBytes(): number {
    return this.#inFlightBytes;
  }

  get isStored(): boolean {
    return this.#entries.length === 0;
  }

  add(stream: LogStream, content: string, timeMs: number): void {
    const entry: LogLine = { line: this.#next++, timeMs: BigInt(timeMs), stream, level: "info", content, lost: 0n };
    this.#entries.push(entry);
    const cost = costOf(entry);
    this.#bytes += cost;
    this.#unsentBytes += cost;
  }

  /** Takes the next entries to send, at most `maxLines` and about `maxBytes`; none when all are on their way. */
  take(maxLines: number, maxBytes: number): LogLine[] {
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
    if (oldest === undefined || !oldest.counts || lastOf(oldest.lines.at(-1)!) <= through) return "stored";
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

  /**
   * Replaces the oldest entries that were never sent by one gap record, until about `bytes` are free. Entries that were
   * sent once may be stored, so a gap record over them could contradict the store.
   */
  dropOldest(bytes: number): void {
    let end = this.#tried;
    for (let freed = 0; freed < bytes && end < this.#entries.length; end++) freed += costOf(this.#entries[end]!);
    // One entry alone frees nothing: the record in its place costs as much.
    if (end - this.#tried >= 2) this.#replaceByGap(this.#tried, end);
  }

  /** A plane that came back from a backup no longer has what it said it had stored: a gap record takes its place. */
  #closeHole(through: bigint): void {
    const first = this.#entries[0]!;
    const lost = first.line - through - 1n;
    if (lost <= 0n) return;
    const gap: LogLine = { ...first, line: through + 1n, level: "warn", content: "", lost };
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
    const gap: LogLine = { ...first, level: "warn", content: "", lost: lastOf(last) - first.line + 1n };
    const removed = this.#entries.splice(from, to - from, gap);
    const difference = costOf(gap) - removed.reduce((sum, entry) => sum + costOf(entry), 0);
    this.#bytes += difference;
    if (from >= this.#sent) this.#unsentBytes += difference;
    else this.#sent -= removed.length - 1;
    if (from < this.#tried) this.#tried -= removed.length - 1;
  }

  #dropThrough(through: bigint): void {
    let count = 0;
    while (count < this.#entries.length && lastOf(this.#entries[count]!) <= through) count++;
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

function lastOf(entry: LogLine): bigint {
  return entry.lost > 0n ? entry.line + entry.lost - 1n : entry.line;
}

function costOf(entry: LogLine): number {
  return ENTRY_BYTES + entry.content.length;
}
