/**
 * The streams that a gateway sends. Each stream is written only as fast as its caller reads, so that messages do not pile
 * up in memory. A stream whose caller stops reading ends with `slow_reader`.
 */
import type { handleServerStreamingCall, ServerWritableStream } from "@grpc/grpc-js";
import { FollowerLimits } from "../app/following/follower-limits.ts";
import { loopShare } from "../app/loop-share.ts";
import { MillraceError } from "../domain/errors.ts";
import type { CallFacts } from "./call-facts.ts";
import { authenticateCall, type StreamContext } from "./calls.ts";
import { toStatus } from "./status.ts";

/** A caller may read nothing for this long, while a message waits for it, until its stream is ended. */
const STALL_MS = 30_000;

export interface ServerStream<Request, Response> extends CallFacts {
  readonly request: Request;
  /**
   * Resolves when there is room for more. Rejects when the stream is over, and with `slow_reader` when the caller has read
   * nothing for too long. The text of that error contains `resume`, which says how to resume after this message.
   */
  readonly write: (response: Response, resume: string) => Promise<void>;
}

/** The open server streams of this gateway. */
export class ServerStreams {
  readonly #context: StreamContext;
  readonly #stallMs: number;
  readonly #limits = new FollowerLimits();
  readonly #open = new Set<AbortController>();

  constructor(context: StreamContext, stallMs: number = STALL_MS) {
    this.#context = context;
    this.#stallMs = stallMs;
  }

  /** Makes the handler of a method. The stream ends with OK when `serve` resolves, and with the status of its error otherwise. */
  handler<Request, Response>(
    serve: (stream: ServerStream<Request, Response>) => Promise<void>,
  ): handleServerStreamingCall<Request, Response> {
    return (call) => {
      const over = new AbortController();
      this.#open.add(over);
      const hangUp = (): void => over.abort();
      call.on("cancelled", hangUp);
      let leave = (): void => {};
      void (async () => {
        try {
          const facts = await authenticateCall(this.#context, call, over.signal);
          await loopShare.enter();
          const giveBack = this.#limits.subscribe(facts.caller);
          const leaveSession = this.#context.sessions.enter(facts, (reason) => over.abort(reason));
          leave = () => {
            leaveSession();
            giveBack();
          };
          await serve({
            ...facts,
            request: call.request,
            write: (response, resume) => this.#write(call, response, resume, over.signal),
          });
          over.signal.throwIfAborted();
          call.end();
        } catch (error) {
          // The library sends a status that is emitted as an error as the status of the call.
          if (!call.cancelled)
            call.emit("error", toStatus(reasonOf(over.signal, error), call.getPath(), this.#context.log));
        } finally {
          leave();
          this.#open.delete(over);
          over.abort();
        }
      })();
    };
  }

  /** Ends every stream, so that the callers connect to another gateway. */
  endAll(): void {
    const reason = new MillraceError("unavailable", "this gateway is shutting down: connect again, and resume");
    for (const over of this.#open) over.abort(reason);
  }

  async #write<Response>(
    call: ServerWritableStream<unknown, Response>,
    response: Response,
    resume: string,
    over: AbortSignal,
  ): Promise<void> {
    over.throwIfAborted();
    let stall: NodeJS.Timeout | undefined;
    // The callback of each written message shows that the caller reads.
    if (call.write(response, () => void stall?.refresh())) return;
    await new Promise<void>((resolve, reject) => {
      const settle = (error?: unknown): void => {
        clearTimeout(stall);
        call.off("drain", settle);
        over.removeEventListener("abort", settle);
        if (error instanceof MillraceError) reject(error);
        else if (over.aborted) reject(over.reason as Error);
        else resolve();
      };
      const text = `nothing of this stream was read for ${this.#stallMs / 1_000} s: read faster, and ${resume}`;
      stall = setTimeout(() => settle(new MillraceError("slow_reader", text)), this.#stallMs);
      call.on("drain", settle);
      over.addEventListener("abort", settle);
    });
  }
}

/** The reason for which this gateway ended the stream, if it did; else the error that ended it. */
function reasonOf(over: AbortSignal, error: unknown): unknown {
  return over.reason instanceof MillraceError ? over.reason : error;
}
