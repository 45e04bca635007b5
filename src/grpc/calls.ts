/** How every call begins and ends: authenticated by its metadata, and with one status whatever happens in between. */
import type {
  handleBidiStreamingCall,
  handleUnaryCall,
  ServerDuplexStream,
  ServerUnaryCall,
  ServerWritableStream,
} from "@grpc/grpc-js";
import { authenticate, type Caller } from "../app/identity/access.ts";
import type { AppContext } from "../app/context.ts";
import type { Logger } from "../domain/logger.ts";
import { toStatus } from "./status.ts";

export interface CallFacts {
  readonly caller: Caller;
  /** Fires when the caller has gone or the call is over. */
  readonly hungUp: AbortSignal;
  /** Milliseconds that the caller still waits; Infinity without a deadline. */
  readonly leftMs: number;
}

export interface Duplex<Request, Response> extends CallFacts {
  /** Reads on demand: a caller that sends faster than it is served is held back. */
  readonly requests: AsyncIterator<Request, undefined>;
  /** Resolves when the next response may be written; rejects when the caller has gone. */
  readonly write: (response: Response) => Promise<void>;
}

export function unary<Request, Response>(
  context: AppContext,
  handle: (request: Request, facts: CallFacts) => Promise<Response>,
): handleUnaryCall<Request, Response> {
  return (call, answer) => {
    const over = new AbortController();
    call.on("cancelled", () => over.abort());
    void (async () => {
      try {
        answer(null, await handle(call.request, await factsOf(context, call, over.signal)));
      } catch (error) {
        answer(toStatus(error, call.getPath(), context.log));
      }
    })();
  };
}

export function duplex<Request, Response>(
  context: AppContext,
  handle: (call: Duplex<Request, Response>) => Promise<void>,
): handleBidiStreamingCall<Request, Response> {
  return (call) =>
    serveStream(context.log, call, async (write, hungUp) => {
      const facts = await factsOf(context, call, hungUp);
      await handle({ ...facts, requests: requestsOf(call, hungUp), write });
    });
}

/** Ends the stream when `serve` is done: well, or with the status of what it throws. Nobody is asked for a token here. */
export function serveStream<Response>(
  log: Logger,
  call: AnswerStream<Response>,
  serve: (write: (response: Response) => Promise<void>, hungUp: AbortSignal) => Promise<void>,
): void {
  const over = new AbortController();
  call.on("cancelled", () => over.abort());
  call.on("close", () => over.abort());
  void (async () => {
    try {
      await serve((message) => write(call, message, over.signal), over.signal);
      call.end();
    } catch (error) {
      // The library takes a status that is emitted as an error for the status of the call.
      if (!over.signal.aborted) call.emit("error", toStatus(error, call.getPath(), log));
    } finally {
      over.abort();
    }
  })();
}

type AnswerStream<Response> = ServerDuplexStream<unknown, Response> | ServerWritableStream<unknown, Response>;

/** A call of any kind. */
type AnyCall = Pick<ServerUnaryCall<unknown, unknown>, "metadata" | "getDeadline">;

/** Throws `unauthenticated`. */
export async function factsOf(context: AppContext, call: AnyCall, hungUp: AbortSignal): Promise<CallFacts> {
  const header = call.metadata.get("authorization")[0]?.toString() ?? "";
  const bearer = /^Bearer +(.+)$/i.exec(header)?.[1] ?? "";
  const deadline = call.getDeadline();
  const leftMs = (deadline instanceof Date ? deadline.getTime() : deadline) - context.clock.now();
  return { caller: await authenticate(context, bearer), hungUp, leftMs };
}

/** The end of the caller's messages; a caller that has gone has sent its last one, too. */
export async function* requestsOf<Request>(
  call: ServerDuplexStream<Request, unknown>,
  over: AbortSignal,
): AsyncGenerator<Request, undefined> {
  try {
    // Destroying the stream would keep its status from being sent.
    for await (const request of call.iterator({ destroyOnReturn: false })) yield request as Request;
  } catch (error) {
    if (!over.aborted && !call.destroyed) throw error;
  }
  return undefined;
}

async function write<Response>(call: AnswerStream<Response>, response: Response, over: AbortSignal): Promise<void> {
  over.throwIfAborted();
  if (call.write(response)) return;
  await new Promise<void>((resolve, reject) => {
    const settle = (): void => {
      call.off("drain", settle);
      over.removeEventListener("abort", settle);
      if (over.aborted) reject(over.reason as Error);
      else resolve();
    };
    call.on("drain", settle);
    over.addEventListener("abort", settle);
  });
}
