/**
 * Bounds the bytes of responses that wait for callers who do not read them, as the HTTP listener does. A call whose caller
 * takes nothing of a response for half a minute is reset. When the responses of all callers hold too much memory, calls
 * are reset sooner, those with the most bytes first.
 */
import { constants, type ServerHttp2Stream } from "node:http2";
import { ServerInterceptingCall, type ServerInterceptingCallInterface, type ServerInterceptor } from "@grpc/grpc-js";
import { gatherWrites } from "../app/gather-writes.ts";
import { type OutgoingBounds, OutgoingBudget, type OutgoingReader } from "../app/outgoing-budget.ts";
import type { Clock } from "../domain/clock.ts";

/** A caller may take nothing of a response for this long. */
const DEAF_MS = 30_000;

export interface DeafBounds extends Partial<OutgoingBounds> {
  /** Milliseconds for which a caller may take nothing of a response; default 30,000. */
  readonly answerMs?: number;
}

/** The first interceptor of a server: it needs the call of the library itself. */
export function resetDeafCallers(
  clock: Pick<Clock, "monotonic">,
  { answerMs = DEAF_MS, ...bounds }: DeafBounds = {},
): ServerInterceptor {
  const budget = new OutgoingBudget(clock, bounds);
  return ({ requestStream, responseStream }, call) => {
    const { stream } = call as unknown as { readonly stream: ServerHttp2Stream };
    if (!requestStream) {
      // A stream is ended with a status first, which tells where to resume (server-streams.ts).
      stream.setTimeout(responseStream ? 2 * answerMs : answerMs);
      // Not for a response that makes progress: the library looks at what the caller has taken of it.
      stream.on("timeout", () => {
        if (stream.writableLength > 0) reset(stream);
      });
    }
    return new WatchedCall(call, new Reader(clock, stream, responseStream), budget, responseStream ? stream : null);
  };
}

/** The client gets RESOURCE_EXHAUSTED for this code: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md */
function reset(stream: ServerHttp2Stream): void {
  stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
}

class WatchedCall extends ServerInterceptingCall {
  readonly #reader: Reader;
  readonly #budget: OutgoingBudget;
  /** Null for a call with a single response. */
  readonly #stream: ServerHttp2Stream | null;
  #isWatched = false;

  constructor(
    call: ServerInterceptingCallInterface,
    reader: Reader,
    budget: OutgoingBudget,
    stream: ServerHttp2Stream | null,
  ) {
    super(call);
    this.#reader = reader;
    this.#budget = budget;
    this.#stream = stream;
  }

  override sendMessage(message: unknown, callback: () => void): void {
    if (this.#stream !== null) gatherWrites(this.#stream);
    let next: (() => void) | null = callback;
    const goOn = (): void => {
      next?.();
      next = null;
    };
    super.sendMessage(message, () => {
      this.#reader.tookMessage();
      goOn();
    });
    // A message that the caller takes at once never waits.
    if (this.#reader.waitingBytes() === 0) return;
    // The library gives the next message when it is called back. That comes in another turn of the event loop for each message.
    if (this.#stream?.writableNeedDrain === false) goOn();
    if (!this.#isWatched) this.#reader.onClose(this.#budget.enter(this.#reader));
    this.#isWatched = true;
    this.#budget.note();
  }
}

class Reader implements OutgoingReader {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #stream: ServerHttp2Stream;
  readonly #isStream: boolean;
  /** Bytes of all calls of the connection that the system has taken. */
  #taken = 0;
  #tookAt: number;

  constructor(clock: Pick<Clock, "monotonic">, stream: ServerHttp2Stream, isStream: boolean) {
    this.#clock = clock;
    this.#stream = stream;
    this.#isStream = isStream;
    this.#tookAt = clock.monotonic();
  }

  get tookAt(): number {
    return this.#tookAt;
  }

  tookMessage(): void {
    this.#tookAt = this.#clock.monotonic();
  }

  waitingBytes(): number {
    const waiting = this.#stream.destroyed ? 0 : this.#stream.writableLength;
    if (waiting === 0) this.tookMessage();
    // A single large message is taken slowly. Only the connection tells that it is.
    if (!this.#isStream) {
      const taken = this.#stream.session?.socket.bytesWritten ?? 0;
      if (taken !== this.#taken) this.tookMessage();
      this.#taken = taken;
    }
    return waiting;
  }

  onClose(leave: () => void): void {
    this.#stream.once("close", leave);
  }

  end(): void {
    reset(this.#stream);
  }
}
