/**
 * Sends spans to a receiver of the OpenTelemetry protocol, by POST of JSON. A receiver that is away or slow holds nothing
 * up: spans wait in a bounded buffer, and the oldest are dropped and counted when it is full.
 */
import { pause, type Clock, type Timers } from "../domain/clock.ts";
import type { Logger } from "../domain/logger.ts";
import { type Attributes, exportRequest, type Span, type SpanSink } from "./spans.ts";

const MOST_WAITING = 10_000;
const SPANS_AT_ONCE = 500;
/** How long a caller waits for the receiver. */
const WAIT_MS = 2_000;
const ANSWER_WITHIN_MS = 10_000;
/** Between two attempts: the first pause, which doubles, and the longest. */
const RETRY_MS = { least: 1_000, most: 60_000 };
const SENT = "";
/** Source: OTLP specification, "Retryable Response Codes". */
const TRY_AGAIN = new Set([429, 502, 503, 504]);

export interface OtlpOptions {
  /** The whole URL, with `/v1/traces`. */
  readonly url: string;
  /** Sent with each request. They may hold credentials: they are never logged. */
  readonly headers: Readonly<Record<string, string>>;
  /** What describes this program. */
  readonly resource: Attributes;
  readonly version: string;
  readonly clock: Pick<Clock, "monotonic">;
  readonly timers: Timers;
  readonly log: Logger;
}

/** Spans since the start of the process. */
interface SpanFigures {
  sent: number;
  /** Left out because the buffer was full. */
  dropped: number;
  /** Not taken by the receiver. */
  refused: number;
}

export class OtlpExporter implements SpanSink {
  readonly figures: SpanFigures = { sent: 0, dropped: 0, refused: 0 };
  readonly #options: OtlpOptions;
  readonly #ended = new AbortController();
  readonly #waiting: Span[] = [];
  #sending: Promise<void> | undefined;
  /** True from a wait that was too long until everything is sent: no caller waits meanwhile. */
  #isSlow = false;

  constructor(options: OtlpOptions) {
    this.#options = options;
  }

  async export(spans: readonly Span[]): Promise<void> {
    if (this.#ended.signal.aborted) return;
    this.#waiting.push(...spans);
    const excess = this.#waiting.length - MOST_WAITING;
    if (excess > 0) {
      this.#waiting.splice(0, excess);
      this.figures.dropped += excess;
    }
    this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined));
    if (this.#isSlow) return;
    const isSent = await Promise.race([this.#sending.then(() => true), this.#wait()]);
    if (!isSent) this.#isSlow = true;
  }

  /** Gives what waits one more chance, and drops the rest. Idempotent. */
  async stop(): Promise<void> {
    const sending = this.#sending;
    if (sending !== undefined && !this.#isSlow) await Promise.race([sending, this.#wait()]);
    this.#ended.abort();
    await sending;
  }

  async #wait(): Promise<false> {
    await pause(this.#options.timers, WAIT_MS, this.#ended.signal);
    return false;
  }

  async #sendAll(): Promise<void> {
    const { log, timers } = this.#options;
    let pauseMs = RETRY_MS.least;
    let isAway = false;
    while (this.#waiting.length > 0 && !this.#ended.signal.aborted) {
      const batch = this.#waiting.splice(0, SPANS_AT_ONCE);
      const outcome = await this.#send(batch);
      if (outcome === SENT) {
        if (isAway) log.info({ waiting: this.#waiting.length }, "the receiver of traces answers again");
        isAway = false;
        pauseMs = RETRY_MS.least;
        continue;
      }
      this.#waiting.unshift(...batch);
      if (!isAway)
        log.warn(
          { reason: outcome },
          "spans cannot be sent; they wait, and the oldest are dropped when there are too many",
        );
      isAway = true;
      this.#isSlow = true;
      await pause(timers, pauseMs, this.#ended.signal);
      pauseMs = Math.min(RETRY_MS.most, pauseMs * 2);
    }
    this.#isSlow = false;
  }

  /** {@link SENT} also when the receiver refuses the spans for good; else why they have to be sent again. */
  async #send(batch: readonly Span[]): Promise<string> {
    const { url, headers, resource, version, log } = this.#options;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(exportRequest(batch, resource, version)),
        redirect: "error",
        signal: AbortSignal.any([this.#ended.signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
      });
      const text = await response.text();
      if (TRY_AGAIN.has(response.status)) return `HTTP status ${response.status}`;
      const refused = response.ok ? refusedOf(text) : batch.length;
      if (refused > 0) log.warn({ status: response.status, refused }, "the receiver of traces has refused spans");
      this.figures.refused += refused;
      this.figures.sent += batch.length - refused;
      return SENT;
    } catch (error) {
      const { cause } = error as Error;
      return String(cause ?? error);
    }
  }
}

/** The count of spans that the receiver did not take, as its answer says; 0 for an answer that says nothing. */
function refusedOf(text: string): number {
  try {
    const { partialSuccess } = JSON.parse(text) as { partialSuccess?: { rejectedSpans?: string | number } };
    return Number(partialSuccess?.rejectedSpans ?? 0) || 0;
  } catch {
    return 0;
  }
}
