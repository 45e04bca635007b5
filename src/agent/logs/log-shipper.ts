/**
 * Sends the log lines of all step runs in batches over one long-lived PushLogs stream. Lines that the control plane has
 * not stored yet are kept in memory and then on the disk; both buffers are bounded. A step never waits for the control
 * plane. When both buffers are full, the oldest lines are dropped and a gap record replaces them.
 */
import { type ClientDuplexStream, type Metadata, status } from "@grpc/grpc-js";
import {
  type GatewayClient,
  type LogStream,
  type PushLogsRequest,
  type PushLogsResponse,
  PushLogsVerdict,
} from "../../../proto/generated/gateway/v1/gateway.ts";
import type { Logger } from "../../domain/logger.ts";
import { Backoff } from "../connection/backoff.ts";
import type { LogSpill } from "./log-spill.ts";
import { UNCOMPRESSED } from "../connection/gateway-clients.ts";
import { keyOf, type LogOwner, SEGMENT_BYTES, StepLog, type StepLogLimit } from "./step-log.ts";

/** Approximate memory for the lines of all logs. Lines beyond it move to the disk. */
const MEMORY_BYTES = 8 * 1024 * 1024;
/**
 * When lines must be dropped, they are dropped until this much memory is in use, so that each gap record covers many
 * lines.
 */
const MEMORY_AFTER_DROP_BYTES = MEMORY_BYTES * 0.875;
/** Upper bound on the bytes that are sent and not answered, which also bounds the buffers of gRPC. */
const WINDOW_BYTES = 1024 * 1024;
/**
 * Upper bound on the unanswered batches of one step: the control plane stores one while the next is on its way. Lines
 * that arrive meanwhile join the following batch. So batches grow when the control plane is slow, and do not pile up.
 */
const BATCHES_IN_FLIGHT = 2;
/** Approximate upper bound of a batch. Even with the widest characters, such a batch is within the gateway's limit. */
const BATCH_BYTES = 256 * 1024;
const BATCH_LINES = 1_000;
/**
 * Batches from this size on are compressed. A batch of 30 kB shrinks to an eighth, for one or two milliseconds of time.
 * A single line would become larger, and would arrive four times as late.
 */
const COMPRESSED_BYTES = 4 * 1024;
/** When a step has this many unsent bytes, they are sent at once. */
const FULL_BYTES = 64 * 1024;
/**
 * Shortest time between two flushes of smaller amounts. A line after a pause is sent without this wait, and many lines
 * in a row make few batches.
 */
const FLUSH_MS = 5;
/**
 * While many steps write at once, a flush makes a batch for each of them, and what a batch costs is much more than what a
 * line costs. So the time to the next flush grows by this much for each batch, up to a bound that people do not notice.
 */
const FLUSH_MS_OF_BATCH = 0.4;
const MAX_FLUSH_MS = 100;
/** Shortest delay of a flush, so that lines that are written together are sent together. */
const MIN_FLUSH_DELAY_MS = 1;
/** Delay before the shipper sends lines again that the control plane could not store. */
const RETRY_MS = 200;

/**
 * A stream with unanswered batches that has answered none for this long is given up. It is a second line of defence: a
 * gateway that works answers each batch or ends the stream. One that is frozen, or whose call to the store hangs, does
 * neither, and another stream may be answered. Shorter than the 30 s after which the control plane tells viewers that lines
 * are lost.
 */
const ANSWER_WITHIN_MS = 15_000;

export interface LogShipperOptions {
  readonly client: GatewayClient;
  /** Undefined while the agent has no token. Lines wait until it has one. */
  readonly metadata: () => Metadata | undefined;
  readonly spill: LogSpill;
  /** Upper bound on the bytes on the disk. */
  readonly diskBytes: number;
  readonly log: Logger;
  /** How long a stream may leave its batches without any answer; 15 s by default. */
  readonly answerWithinMs?: number;
}

type PushStream = ClientDuplexStream<PushLogsRequest, PushLogsResponse>;

export class LogShipper {
  readonly #options: LogShipperOptions;
  readonly #logs = new Map<string, StepLog>();
  readonly #backoff = new Backoff();
  readonly #emptyListeners: (() => void)[] = [];
  #stream: PushStream | undefined;
  /** Set while lines wait for the next flush. */
  #flushTimer: NodeJS.Timeout | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;
  /** From {@link #sentAt} to the next flush of smaller amounts. */
  #flushMs = FLUSH_MS;
  #retryTimer: NodeJS.Timeout | undefined;
  /** Set while batches are not answered. */
  #answerTimer: NodeJS.Timeout | undefined;
  #bytes = 0;
  #spilled = 0;
  #inFlight = 0;
  /** True when lines have been dropped since the shipper was last empty. */
  #hasDropped = false;
  #closed = false;

  constructor(options: LogShipperOptions) {
    this.#options = options;
  }

  /**
   * Opens the log of a step run. Its lines are kept until the control plane has stored them, even after the step's end.
   * A log without a limit is sent as a whole.
   */
  open(owner: LogOwner, limit?: StepLogLimit): StepLog {
    const log = new StepLog(owner, this.#options.spill, limit);
    this.#logs.set(log.key, log);
    return log;
  }

  /**
   * Adds a line to an open log. No effect when the control plane has refused the log. `timeMs` is in Unix milliseconds.
   */
  add(log: StepLog, stream: LogStream, content: string, timeMs: number, level?: string): void {
    if (this.#logs.get(log.key) !== log) return;
    this.#change(log, () => log.add(stream, content, timeMs, this.#tailRoom(log), level));
    if (this.#bytes > MEMORY_BYTES) this.#makeRoom();
    if (log.unsentBytes >= FULL_BYTES) this.#sendDue();
    else this.#flushTimer ??= setTimeout(() => this.#flush(), this.#untilFlushMs());
  }

  /** Adds whole lines, each with its line feed, to a log that is beyond its limit. */
  addBlock(log: StepLog, stream: LogStream, bytes: Buffer, timeMs: number): void {
    if (this.#logs.get(log.key) !== log) return;
    this.#change(log, () => log.addBlock(stream, bytes, timeMs, this.#tailRoom(log)));
  }

  /** The step writes no further output. The newest lines of a log beyond its limit are added now. */
  endTail(log: StepLog): void {
    if (!log.isBeyondLimit || this.#logs.get(log.key) !== log) return;
    this.#change(log, () => log.endTail());
    if (this.#bytes > MEMORY_BYTES) this.#makeRoom();
    this.#sendDue();
  }

  /** The step has ended. Its waiting lines are sent at once, and the log is removed when all its lines are stored. */
  finish(log: StepLog): void {
    this.endTail(log);
    log.ended = true;
    this.#sendDue();
    if (log.isStored) this.#remove(log);
  }

  /**
   * Opens a finished log again, calls `addLines`, which may call {@link add}, and finishes the log again. The lines
   * have no effect if the control plane refused the log before all its lines were stored.
   */
  addToFinished(log: StepLog, addLines: () => void): void {
    if (log.isStored) this.#logs.set(log.key, log);
    addLines();
    this.finish(log);
  }

  /** The grant has ended. The lines of its log are dropped. */
  abandon(owner: Pick<LogOwner, "stepRunId" | "token">): void {
    const log = this.#logs.get(keyOf(owner));
    if (log === undefined) return;
    const wasFull = this.#inFlight >= WINDOW_BYTES;
    this.#remove(log);
    if (wasFull) this.#sendDue();
  }

  /** Resolves when every line is stored. */
  whenStored(): Promise<void> {
    if (this.#isEmpty) return Promise.resolve();
    return new Promise((resolve) => this.#emptyListeners.push(resolve));
  }

  /** Ends the stream and drops all lines that are not stored. */
  close(): void {
    this.#closed = true;
    for (const timer of [this.#flushTimer, this.#retryTimer, this.#answerTimer]) clearTimeout(timer);
    this.#stream?.cancel();
    for (const log of this.#logs.values()) log.dispose();
  }

  #remove(log: StepLog): void {
    if (!this.#logs.delete(log.key)) return;
    this.#bytes -= log.bytes;
    this.#spilled -= log.spilledBytes + log.tailBytes;
    this.#inFlight -= log.inFlightBytes;
    log.dispose();
    this.#checkEmpty();
  }

  /** Changes one log, and updates the totals over all logs. */
  #change<T>(log: StepLog, change: () => T): T {
    const { bytes, spilledBytes, tailBytes, inFlightBytes } = log;
    try {
      return change();
    } finally {
      this.#bytes += log.bytes - bytes;
      this.#spilled += log.spilledBytes + log.tailBytes - spilledBytes - tailBytes;
      this.#inFlight += log.inFlightBytes - inFlightBytes;
    }
  }

  /** How many bytes of disk the newest lines of this log may take. */
  #tailRoom(log: StepLog): number {
    return this.#options.diskBytes - this.#spilled + log.tailBytes;
  }

  #untilFlushMs(): number {
    return Math.max(MIN_FLUSH_DELAY_MS, Math.ceil(this.#sentAt + this.#flushMs - performance.now()));
  }

  #flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    const batches = this.#sendDue();
    this.#flushMs = Math.min(MAX_FLUSH_MS, Math.max(FLUSH_MS, batches * FLUSH_MS_OF_BATCH));
  }

  /**
   * Sends as many lines of these logs as the window allows. While a flush is scheduled, it sends only lines of logs that
   * have ended or have many unsent lines. Answers how many batches it has sent.
   */
  #sendDue(logs: Iterable<StepLog> = this.#logs.values()): number {
    if (this.#closed || this.#retryTimer !== undefined) return 0;
    let batches = 0;
    for (const log of logs) {
      while (this.#isDue(log) && log.batchesInFlight < BATCHES_IN_FLIGHT && this.#inFlight < WINDOW_BYTES) {
        const stream = (this.#stream ??= this.#connect());
        if (stream === undefined) return batches;
        const before = this.#inFlight;
        const lines = this.#change(log, () => log.take(BATCH_LINES, BATCH_BYTES));
        const isSmall = this.#inFlight - before < COMPRESSED_BYTES;
        stream.write({ ...log.owner, lines }, ...(isSmall ? [UNCOMPRESSED] : []));
        this.#sentAt = performance.now();
        if (this.#answerTimer === undefined) this.#awaitAnswer(stream);
        batches++;
      }
    }
    return batches;
  }

  #isDue(log: StepLog): boolean {
    if (!log.hasUnsent) return false;
    return log.ended || this.#flushTimer === undefined || log.unsentBytes >= FULL_BYTES;
  }

  #connect(): PushStream | undefined {
    const metadata = this.#options.metadata();
    if (metadata === undefined) {
      this.#sendLater(this.#backoff.nextMs());
      return undefined;
    }
    const stream = this.#options.client.pushLogs(metadata);
    stream.on("data", (answer: PushLogsResponse) => {
      // What an earlier stream still brings answers batches that were sent again since.
      if (this.#stream !== stream) return;
      this.#answered(answer);
      this.#awaitAnswer(stream);
    });
    const onEnd = (reason: string) => {
      if (this.#stream !== stream) return;
      this.#stream = undefined;
      this.#awaitNoAnswer();
      for (const log of this.#logs.values()) this.#change(log, () => log.disconnect());
      if (this.#closed) return;
      this.#options.log.debug({ reason }, "the log stream has ended");
      if (!this.#isEmpty) this.#sendLater(this.#backoff.nextMs());
    };
    stream.on("error", (error: Error & { code?: number }) =>
      onEnd(status[error.code ?? status.UNKNOWN] ?? error.message),
    );
    stream.on("end", () => onEnd("ended by the control plane"));
    return stream;
  }

  /** Gives up the stream when no answer comes from now on. Ends an earlier wait. */
  #awaitAnswer(stream: PushStream): void {
    this.#awaitNoAnswer();
    if (this.#inFlight === 0 || this.#stream !== stream) return;
    this.#answerTimer = setTimeout(() => {
      this.#options.log.debug({}, "the log stream does not answer: it is given up");
      stream.cancel();
    }, this.#options.answerWithinMs ?? ANSWER_WITHIN_MS);
  }

  #awaitNoAnswer(): void {
    clearTimeout(this.#answerTimer);
    this.#answerTimer = undefined;
  }

  #answered({ stepRunId, token, verdict, storedThrough }: PushLogsResponse): void {
    const log = this.#logs.get(keyOf({ stepRunId, token }));
    if (log === undefined) return;
    this.#backoff.reset();
    const wasFull = this.#inFlight >= WINDOW_BYTES;
    switch (verdict) {
      case PushLogsVerdict.PUSH_LOGS_VERDICT_STORED:
        if (this.#change(log, () => log.acknowledge(storedThrough)) === "missed") this.#sendLater(RETRY_MS);
        break;
      case PushLogsVerdict.PUSH_LOGS_VERDICT_INVALID:
        this.#options.log.warn({ stepRunId }, "the control plane cannot take a batch of log lines; they are lost");
        if (!this.#change(log, () => log.discard())) this.#remove(log);
        break;
      default:
        this.#options.log.info({ stepRunId, verdict }, "the control plane refuses the log of a step run");
        this.#remove(log);
    }
    if (log.isStored && log.ended) this.#remove(log);
    this.#checkEmpty();
    // Only a window that was full has kept other logs back.
    if (wasFull) this.#sendDue();
    else if (this.#logs.has(log.key)) this.#sendDue([log]);
  }

  #sendLater(ms: number): void {
    this.#retryTimer ??= setTimeout(() => {
      this.#retryTimer = undefined;
      this.#flush();
    }, ms);
  }

  /** Moves lines to the disk, and drops the oldest lines when the disk has no room for more. */
  #makeRoom(): void {
    while (this.#bytes > MEMORY_BYTES) {
      const log = this.#logWithMost((each) => each.movableBytes);
      if (log.movableBytes === 0) return; // All lines in memory were sent and wait for their answers.
      if (this.#moveToDisk(log)) continue;
      this.#warnOfDropped();
      const longest = this.#logWithMost((each) => each.spilledBytes);
      if (longest.spilledBytes > 0) {
        this.#change(longest, () => longest.dropOldestSegment());
        // Tried only once: with a disk that refuses every write, the loop would never end.
        if (this.#moveToDisk(log)) continue;
      }
      return this.#change(log, () => log.dropOldest(this.#bytes - MEMORY_AFTER_DROP_BYTES));
    }
  }

  /** False when the disk has no room for the lines. */
  #moveToDisk(log: StepLog): boolean {
    if (this.#spilled + Math.min(log.movableBytes, SEGMENT_BYTES) > this.#options.diskBytes) return false;
    try {
      this.#change(log, () => log.moveToDisk());
      return true;
    } catch (error) {
      this.#options.log.debug({ error: (error as Error).message }, "log lines cannot be written to the disk");
      return false;
    }
  }

  #logWithMost(measure: (log: StepLog) => number): StepLog {
    return [...this.#logs.values()].reduce((a, b) => (measure(b) > measure(a) ? b : a));
  }

  #warnOfDropped(): void {
    if (!this.#hasDropped)
      this.#options.log.warn({}, "there is no room for log lines that cannot be sent; the oldest are dropped");
    this.#hasDropped = true;
  }

  get #isEmpty(): boolean {
    return this.#bytes === 0 && this.#spilled === 0;
  }

  #checkEmpty(): void {
    if (!this.#isEmpty) return;
    this.#hasDropped = false;
    for (const resolve of this.#emptyListeners.splice(0)) resolve();
  }
}
