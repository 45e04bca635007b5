/**
 * The streams that a gateway sends: each is written as fast as it is read, so that nothing waits in memory, and a caller
 * that does not read is told so and left.
 */
import type { handleServerStreamingCall, ServerWritableStream } from "@grpc/grpc-js";
import type { AppContext } from "../app/context.ts";
import { MillraceError } from "../domain/errors.ts";
import { type CallFacts, factsOf } from "./calls.ts";
import { toStatus } from "./status.ts";

/** A caller that takes nothing for so long while something waits for it is left. */
const STALL_MS = 30_000;

export interface ServerStream<Request, Response> extends CallFacts {
  readonly request: Request;
  /**
   * Resolves when there is room for more. Rejects when the stream is over, and with `slow_reader` when nothing was read for
   * too long; `resume` then says how to go on after this message.
   */
  readonly write: (response: Response, resume: string) => Promise<void>;
}

export class ServerStreams {
  readonly #context: AppContext;
  readonly #stallMs: number;
  readonly #open = new Set<AbortController>();

  constructor(context: AppContext, stallMs: number = STALL_MS) {
    this.#context = context;
    this.#stallMs = stallMs;
  }

  /** What `serve` throws is the status of the stream; OK when it returns. */
  handler<Request, Response>(
    serve: (stream: ServerStream<Request, Response>) => Promise<void>,
  ): handleServerStreamingCall<Request, Response> {
    return (call) => {
      const over = new AbortController();
      this.#open.add(over);
      const hangUp = (): void => over.abort();
      call.on("cancelled", hangUp);
      void (async () => {
        try {
          const facts = await factsOf(this.#context, call, over.signal);
          await serve({
            ...facts,
            request: call.request,
            write: (response, resume) => this.#write(call, response, resume, over.signal),
          });
          over.signal.throwIfAborted();
          call.end();
        } catch (error) {
          // The library takes a status that is emitted as an error for the status of the call.
          if (!call.cancelled)
            call.emit("error", toStatus(reasonOf(over.signal, error), call.getPath(), this.#context.log));
        } finally {
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
    // Each message that is taken shows that the caller reads.
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

/** Why this side ended the stream, whatever that made of what was under way. */
function reasonOf(over: AbortSignal, error: unknown): unknown {
  return over.reason instanceof MillraceError ? over.reason : error;
}
