/**
 * Ships the lines of all step runs over one long-lived PushLogs stream, in batches, and keeps what is not yet stored in
 * a buffer of bounded size. A control plane that is slow makes steps wait; one that is silent makes lines go, and a gap
 * record says which.
 */
import { type ClientDuplexStream, type Metadata, status } from "@grpc/grpc-js";
import {
  type GatewayClient,
  type LogStream,
  type PushLogsRequest,
  type PushLogsResponse,
  PushLogsVerdict,
} from "../../proto/generated/gateway/v1/gateway.ts";
import type { Logger } from "../domain/logger.ts";
import { Backoff } from "./backoff.ts";
import { UNCOMPRESSED } from "./plane-clients.ts";
import { type LogOwner, StepLog } from "./step-log.ts";

const BUFFER_BYTES = 8 * 1024 * 1024;
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
/** A plane that has stored nothing for so long, while the buffer is full, no longer holds steps up. */
const SILENCE_MS = 2_000;
/** Before lines are sent again that the plane could not store. */
const RETRY_MS = 200;

type PushStream = ClientDuplexStream<PushLogsRequest, PushLogsResponse>;

export class LogShipper {
  readonly #client: GatewayClient;
  readonly #metadata: () => Metadata | undefined;
  readonly #log: Logger;
  readonly #logs = new Map<string, StepLog>();
  readonly #backoff = new Backoff();
  readonly #waiting: (() => void)[] = [];
  readonly #waitingForAll: (() => void)[] = [];
  #stream: PushStream | undefined;
  /** Set while lines wait whose time has not come. */
  #flushTimer: NodeJS.Timeout | undefined;
  #sentAt = Number.NEGATIVE_INFINITY;
  #retryTimer: NodeJS.Timeout | undefined;
  #silenceTimer: NodeJS.Timeout | undefined;
  /** The plane stores nothing: lines go rather than that steps wait. */
  #silent = false;
  #bytes = 0;
  #inFlight = 0;
  #closed = false;

  /** `metadata` answers undefined while the agent has no token; lines wait then. */
  constructor(options: { client: GatewayClient; metadata: () => Metadata | undefined; log: Logger }) {
    this.#client = options.client;
    this.#metadata = options.metadata;
    this.#log = options.log;
  }

  /** Begins the log of a step run; its lines are kept until they are stored, also after the step's end. */
  open(owner: LogOwner): StepLog {
    const log = new StepLog(owner);
    this.#logs.set(keyOf(owner), log);
    return log;
  }

  /** Adds a line to an open log; nothing happens when the plane has refused that log. */
  add(log: StepLog, stream: LogStream, content: string, timeMs: number): void {
    if (this.#logs.get(keyOf(log.owner)) !== log) return;
    this.#change(log, () => log.add(stream, content, timeMs));
    if (this.#bytes > BUFFER_BYTES) this.#overflow();
    if (log.unsentBytes >= FULL_BYTES) this.#sendDue();
    else this.#flushTimer ??= setTimeout(() => this.#flush(), this.#untilFlushMs());
  }

  /** True when whoever makes lines should wait for {@link whenRoom}. */
  get isFull(): boolean {
    return this.#bytes > BUFFER_BYTES && !this.#silent && !this.#closed;
  }

  /** Resolves when there is room again, or the plane has stored nothing for two seconds. */
  whenRoom(): Promise<void> {
    if (!this.isFull) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** The step has ended: what waits for its batch is sent now, and the log goes once it is stored. */
  finish(log: StepLog): void {
    log.ended = true;
    this.#sendDue();
    if (log.isStored) this.#remove(log);
  }

  /** The grant is over: its lines are dropped. */
  abandon(owner: Pick<LogOwner, "stepRunId" | "token">): void {
    const log = this.#logs.get(keyOf(owner));
    if (log !== undefined) this.#remove(log);
  }

  /** Resolves when every line is stored. */
  whenStored(): Promise<void> {
    if (this.#bytes === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waitingForAll.push(resolve));
  }

  /** Drops what is not stored. */
  close(): void {
    this.#closed = true;
    for (const timer of [this.#flushTimer, this.#retryTimer, this.#silenceTimer]) clearTimeout(timer);
    for (const resolve of this.#waiting.splice(0)) resolve();
    this.#stream?.cancel();
  }

  #remove(log: StepLog): void {
    if (!this.#logs.delete(keyOf(log.owner))) return;
    this.#bytes -= log.bytes;
    this.#inFlight -= log.inFlightBytes;
    this.#letGo();
  }

  /** Keeps the sums over all logs in step with a change of one. */
  #change<T>(log: StepLog, change: () => T): T {
    const { bytes, inFlightBytes } = log;
    const answer = change();
    this.#bytes += log.bytes - bytes;
    this.#inFlight += log.inFlightBytes - inFlightBytes;
    return answer;
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
    if (log.unsentBytes === 0) return false;
    return log.ended || this.#flushTimer === undefined || log.unsentBytes >= FULL_BYTES;
  }

  #connect(): PushStream | undefined {
    const metadata = this.#metadata();
    if (metadata === undefined) {
      this.#sendLater(this.#backoff.nextMs());
      return undefined;
    }
    const stream = this.#client.pushLogs(metadata);
    stream.on("data", (answer: PushLogsResponse) => this.#answered(answer));
    const onEnd = (reason: string) => {
      if (this.#stream !== stream) return;
      this.#stream = undefined;
      for (const log of this.#logs.values()) this.#change(log, () => log.disconnect());
      if (this.#closed) return;
      this.#log.debug({ reason }, "the log stream has ended");
      if (this.#bytes > 0) this.#sendLater(this.#backoff.nextMs());
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
    const before = log.bytes;
    switch (verdict) {
      case PushLogsVerdict.PUSH_LOGS_VERDICT_STORED:
        if (this.#change(log, () => log.acknowledge(storedThrough)) === "missed") this.#sendLater(RETRY_MS);
        break;
      case PushLogsVerdict.PUSH_LOGS_VERDICT_INVALID:
        this.#log.warn({ stepRunId }, "the control plane cannot take a batch of log lines; they are lost");
        if (!this.#change(log, () => log.discard())) return this.#remove(log);
        break;
      default:
        this.#log.info({ stepRunId, verdict }, "the control plane refuses the log of a step run");
        return this.#remove(log);
    }
    if (log.bytes < before) this.#heard();
    if (log.isStored && log.ended) this.#remove(log);
    this.#sendDue();
  }

  #sendLater(ms: number): void {
    this.#retryTimer ??= setTimeout(() => {
      this.#retryTimer = undefined;
      this.#flush();
    }, ms);
  }

  #overflow(): void {
    if (!this.#silent) return this.#listen();
    const longest = [...this.#logs.values()].reduce((a, b) => (b.unsentBytes > a.unsentBytes ? b : a));
    this.#change(longest, () => longest.dropOldest(this.#bytes - BUFFER_BYTES * 0.875));
  }

  /** Waits for a sign that the plane stores lines while the buffer is full or somebody waits for room. */
  #listen(): void {
    this.#silenceTimer ??= setTimeout(() => {
      this.#silenceTimer = undefined;
      if (!this.isFull && this.#waiting.length === 0) return;
      this.#log.warn({}, "the control plane stores no log lines; the oldest that wait are dropped");
      this.#silent = true;
      this.#letGo();
    }, SILENCE_MS);
  }

  #heard(): void {
    this.#silent = false;
    clearTimeout(this.#silenceTimer);
    this.#silenceTimer = undefined;
    this.#letGo();
    if (this.isFull || this.#waiting.length > 0) this.#listen();
  }

  #letGo(): void {
    if (this.#bytes === 0) for (const resolve of this.#waitingForAll.splice(0)) resolve();
    if (this.#bytes > BUFFER_BYTES * 0.75 && !this.#silent) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

function keyOf({ stepRunId, token }: Pick<LogOwner, "stepRunId" | "token">): string {
  return `${stepRunId}/${token}`;
}
