/**
 * Ships the lines of all step runs over one long-lived PushLogs stream, in batches, and keeps what is not yet stored: some
 * in memory, more on the disk, both bounded. No step ever waits for the control plane. When all is full the oldest lines
 * go, and a gap record says which.
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
import { type LogOwner, SEGMENT_BYTES, StepLog } from "./step-log.ts";

/** What all logs may take in memory, about; beyond it lines go to the disk. */
const MEMORY_BYTES = 8 * 1024 * 1024;
/** What is left of it when there is no disk and lines have to go: some at a time. */
const SPARED_BYTES = MEMORY_BYTES * 0.875;
/** What may be on its way at a time; also bounds what gRPC itself buffers. */
const WINDOW_BYTES = 1024 * 1024;
/**
 * Of one step, on their way at a time: one is stored while the next travels. What is added meanwhile goes with the batch
 * after them, so that batches grow as a plane gets slower, instead of more and more of them waiting for their turn.
 */
const BATCHES_IN_FLIGHT = 2;
/** Of one batch, at most, about: with the widest characters still within what the plane takes. */
const BATCH_BYTES = 256 * 1024;
const BATCH_LINES = 1_000;
/**
 * From here on a batch is compressed: one of 30 kB takes an eighth on the wire, for a millisecond or two of its time. A line on its
 * own would become larger, and four times as late.
 */
const COMPRESSED_BYTES = 4 * 1024;
/** What of one step is sent at once. */
const FULL_BYTES = 64 * 1024;
/** Of less, what has come together since the last time: a line after a pause does not wait, and many make few batches. */
const FLUSH_MS = 5;
/** Lines that are written together come one after the other. */
const TOGETHER_MS = 1;
/** Before lines are sent again that the plane could not store. */
const RETRY_MS = 200;

export interface LogShipperOptions {
  readonly client: GatewayClient;
  /** Undefined while the agent has no token; lines wait then. */
  readonly metadata: () => Metadata | undefined;
  readonly spill: LogSpill;
  /** What may lie on the disk, bytes. */
  readonly diskBytes: number;
  readonly log: Logger;
}

type PushStream = ClientDuplexStream<PushLogsRequest, PushLogsResponse>;

export class LogShipper {
  readonly #options: LogShipperOptions;
  readonly #logs = new Map<string, StepLog>();
  readonly #backoff = new Backoff();
  readonly #waitingForAll: (() => void)[] = [];
  #stream: PushStream | undefined;
  /** Set while lines wait whose time has not come. */
  #flushTimer: NodeJS.Timeout | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;
  #retryTimer: NodeJS.Timeout | undefined;
  #bytes = 0;
  #spilled = 0;
  #inFlight = 0;
  /** Lines have gone since there was last nothing to send. */
  #dropped = false;
  #closed = false;

  constructor(options: LogShipperOptions) {
    this.#options = options;
  }

  /** Begins the log of a step run; its lines are kept until they are stored, also after the step's end. */
  open(owner: LogOwner): StepLog {
    const log = new StepLog(owner, this.#options.spill);
    this.#logs.set(keyOf(owner), log);
    return log;
  }

  /** Adds a line to an open log; nothing happens when the plane has refused that log. */
  add(log: StepLog, stream: LogStream, content: string, timeMs: number): void {
    if (this.#logs.get(keyOf(log.owner)) !== log) return;
    this.#change(log, () => log.add(stream, content, timeMs));
    if (this.#bytes > MEMORY_BYTES) this.#makeRoom();
    if (log.unsentBytes >= FULL_BYTES) this.#sendDue();
    else this.#flushTimer ??= setTimeout(() => this.#flush(), this.#untilFlushMs());
  }

  /** The step has ended: what waits for its batch is sent now, and the log goes once it is stored. */
  finish(log: StepLog): void {
    log.ended = true;
    this.#sendDue();
    if (log.isStored) this.#remove(log);
  }

  /** As `add` may add lines, to a log that is finished; nothing happens when its last lines were not taken. */
  addToFinished(log: StepLog, add: () => void): void {
    if (log.isStored) this.#logs.set(keyOf(log.owner), log);
    add();
    this.finish(log);
  }

  /** The grant is over: its lines are dropped. */
  abandon(owner: Pick<LogOwner, "stepRunId" | "token">): void {
    const log = this.#logs.get(keyOf(owner));
    if (log !== undefined) this.#remove(log);
  }

  /** Resolves when every line is stored. */
  whenStored(): Promise<void> {
    if (this.#isEmpty) return Promise.resolve();
    return new Promise((resolve) => this.#waitingForAll.push(resolve));
  }

  /** Drops what is not stored. */
  close(): void {
    this.#closed = true;
    for (const timer of [this.#flushTimer, this.#retryTimer]) clearTimeout(timer);
    this.#stream?.cancel();
    for (const log of this.#logs.values()) log.dispose();
  }

  #remove(log: StepLog): void {
    if (!this.#logs.delete(keyOf(log.owner))) return;
    this.#bytes -= log.bytes;
    this.#spilled -= log.spilledBytes;
    this.#inFlight -= log.inFlightBytes;
    log.dispose();
    this.#checkEmpty();
  }

  /** Keeps the sums over all logs in step with a change of one. */
  #change<T>(log: StepLog, change: () => T): T {
    const { bytes, spilledBytes, inFlightBytes } = log;
    try {
      return change();
    } finally {
      this.#bytes += log.bytes - bytes;
      this.#spilled += log.spilledBytes - spilledBytes;
      this.#inFlight += log.inFlightBytes - inFlightBytes;
    }
  }

  #untilFlushMs(): number {
    return Math.max(TOGETHER_MS, Math.ceil(this.#sentAt + FLUSH_MS - performance.now()));
  }

  #flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    this.#sendDue();
  }

  /** Sends what there is room for: while a flush is to come, only of logs that are at their end or have much to send. */
  #sendDue(): void {
    if (this.#closed || this.#retryTimer !== undefined) return;
    for (const log of this.#logs.values()) {
      while (this.#isDue(log) && log.batchesInFlight < BATCHES_IN_FLIGHT && this.#inFlight < WINDOW_BYTES) {
        const stream = (this.#stream ??= this.#connect());
        if (stream === undefined) return;
        const before = this.#inFlight;
        const lines = this.#change(log, () => log.take(BATCH_LINES, BATCH_BYTES));
        const isSmall = this.#inFlight - before < COMPRESSED_BYTES;
        stream.write({ ...log.owner, lines }, ...(isSmall ? [UNCOMPRESSED] : []));
        this.#sentAt = performance.now();
      }
    }
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
    stream.on("data", (answer: PushLogsResponse) => this.#answered(answer));
    const onEnd = (reason: string) => {
      if (this.#stream !== stream) return;
      this.#stream = undefined;
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

  #answered({ stepRunId, token, verdict, storedThrough }: PushLogsResponse): void {
    const log = this.#logs.get(keyOf({ stepRunId, token }));
    if (log === undefined) return;
    this.#backoff.reset();
    switch (verdict) {
      case PushLogsVerdict.PUSH_LOGS_VERDICT_STORED:
        if (this.#change(log, () => log.acknowledge(storedThrough)) === "missed") this.#sendLater(RETRY_MS);
        break;
      case PushLogsVerdict.PUSH_LOGS_VERDICT_INVALID:
        this.#options.log.warn({ stepRunId }, "the control plane cannot take a batch of log lines; they are lost");
        if (!this.#change(log, () => log.discard())) return this.#remove(log);
        break;
      default:
        this.#options.log.info({ stepRunId, verdict }, "the control plane refuses the log of a step run");
        return this.#remove(log);
    }
    if (log.isStored && log.ended) this.#remove(log);
    this.#checkEmpty();
    this.#sendDue();
  }

  #sendLater(ms: number): void {
    this.#retryTimer ??= setTimeout(() => {
      this.#retryTimer = undefined;
      this.#flush();
    }, ms);
  }

  /** Moves lines to the disk, and lets the oldest go when there is no room for more. */
  #makeRoom(): void {
    while (this.#bytes > MEMORY_BYTES) {
      const log = this.#most((each) => each.movableBytes);
      if (log.movableBytes === 0) return; // All of it is on its way.
      if (this.#moveToDisk(log)) continue;
      this.#noteDropped();
      const longest = this.#most((each) => each.spilledBytes);
      if (longest.spilledBytes > 0) {
        this.#change(longest, () => longest.dropOldestSegment());
        // A disk that takes nothing at all would make the loop go on for ever.
        if (this.#moveToDisk(log)) continue;
      }
      return this.#change(log, () => log.dropOldest(this.#bytes - SPARED_BYTES));
    }
  }

  /** False when there is no room for it. */
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

  #most(measure: (log: StepLog) => number): StepLog {
    return [...this.#logs.values()].reduce((a, b) => (measure(b) > measure(a) ? b : a));
  }

  #noteDropped(): void {
    if (!this.#dropped)
      this.#options.log.warn({}, "there is no room for log lines that cannot be sent; the oldest are dropped");
    this.#dropped = true;
  }

  get #isEmpty(): boolean {
    return this.#bytes === 0 && this.#spilled === 0;
  }

  #checkEmpty(): void {
    if (!this.#isEmpty) return;
    this.#dropped = false;
    for (const resolve of this.#waitingForAll.splice(0)) resolve();
  }
}

function keyOf({ stepRunId, token }: Pick<LogOwner, "stepRunId" | "token">): string {
  return `${stepRunId}/${token}`;
}
