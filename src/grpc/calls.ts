/** The frame of every call: its metadata is authenticated before the handler runs, and every error becomes a status. */
import type {
  handleBidiStreamingCall,
  handleUnaryCall,
  ServerDuplexStream,
  ServerUnaryCall,
  ServerWritableStream,
} from "@grpc/grpc-js";
import type { GetMetricsRequest, ScaledObjectRef } from "../../proto/generated/externalscaler/externalscaler.ts";
import { authenticate, type Caller, reauthenticate } from "../app/identity/access.ts";
import type { OpenSessions } from "../app/identity/sessions.ts";
import { type AreaNames, idsOfSlugs } from "../app/area-names.ts";
import type { AppContext } from "../app/context.ts";
import type { MillraceError } from "../domain/errors.ts";
import type { Logger } from "../domain/logger.ts";
import { withTrail } from "./audit.ts";
import type { CallFacts } from "./call-facts.ts";
import { toStatus } from "./status.ts";

/** What streams work with: their callers are checked as long as they are open. */
export interface StreamContext extends AppContext {
  readonly sessions: OpenSessions;
}

export interface Duplex<Request, Response> extends CallFacts {
  /** Read on demand, so that a caller cannot send faster than it is served. */
  readonly requests: AsyncIterator<Request, undefined>;
  /** Resolves when the next response may be written; rejects when the caller has disconnected. */
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
        const facts = await authenticateCall(context, call, over.signal);
        await replaceSlugs(context, facts.caller, call.request);
        answer(null, await withTrail(context, call, facts, (traced) => handle(call.request, traced)));
      } catch (error) {
        answer(toStatus(error, call.getPath(), context.log));
      }
    })();
  };
}

/** Puts ids in the place of the slugs that a request names its tenant and its project by. */
async function replaceSlugs(context: AppContext, caller: Caller, request: unknown): Promise<void> {
  const names = request as AreaNames;
  if (!names.tenantId && !names.projectId) return;
  Object.assign(request as object, await idsOfSlugs(context, caller, names));
}

/** A response that is encoded already. The server sends it as it is (call-bounds.ts). */
export function encoded<Response>(bytes: Buffer): Response {
  return bytes as unknown as Response;
}

export function duplex<Request, Response>(
  context: StreamContext,
  handle: (call: Duplex<Request, Response>) => Promise<void>,
): handleBidiStreamingCall<Request, Response> {
  return (call) =>
    serveStream(context.log, call, async (write, hungUp) => {
      const facts = await authenticateCall(context, call, hungUp);
      await whileValid(context, facts, () => handle({ ...facts, requests: requestsOf(call, hungUp), write }));
    });
}

/** Ends the stream when `serve` is done: with OK, or with the status of the error that it throws. Checks no token. */
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
      // The library sends a status that is emitted as an error as the status of the call.
      if (!over.signal.aborted) call.emit("error", toStatus(error, call.getPath(), log));
    } finally {
      over.abort();
    }
  })();
}

type AnswerStream<Response> = ServerDuplexStream<unknown, Response> | ServerWritableStream<unknown, Response>;

/** The part of a call that every kind of call has. A stream of requests has no `request`. */
type AnyCall = Pick<ServerUnaryCall<unknown, unknown>, "metadata" | "getDeadline" | "getPath"> & {
  readonly request?: unknown;
};

/** The caller of a call, by its token. Throws `unauthenticated`. */
export async function authenticateCall(context: AppContext, call: AnyCall, hungUp: AbortSignal): Promise<CallFacts> {
  const header = call.metadata.get("authorization")[0]?.toString() ?? "";
  const bearer = header === "" ? tokenOfScaler(call) : (/^Bearer +(.+)$/i.exec(header)?.[1] ?? "");
  const deadline = call.getDeadline();
  const leftMs = (deadline instanceof Date ? deadline.getTime() : deadline) - context.clock.now();
  return { caller: await authenticate(context, bearer), bearer, hungUp, leftMs };
}

/**
 * The token of a call of KEDA, which cannot send any metadata: its requests name the token as their trigger does. A key
 * that ends in `FromEnv` takes its value from a variable of the scaled container, so from a secret.
 */
function tokenOfScaler(call: AnyCall): string {
  if (!call.getPath().startsWith("/externalscaler.ExternalScaler/")) return "";
  const request = call.request as Partial<ScaledObjectRef & GetMetricsRequest>;
  return (request.scalerMetadata ?? request.scaledObjectRef?.scalerMetadata)?.["tokenFromEnv"] ?? "";
}

/** Serves a stream. Rejects as soon as the token of the call proves less than when the call began. */
export async function whileValid(
  { sessions }: StreamContext,
  facts: CallFacts,
  serve: () => Promise<void>,
): Promise<void> {
  let leave = (): void => {};
  const revoked = new Promise<never>((_, reject: (reason: MillraceError) => void) => {
    leave = sessions.enter(facts, reject);
  });
  try {
    await Promise.race([revoked, serve()]);
  } finally {
    leave();
  }
}

/** Throws `unauthenticated` when the token of a call that has waited proves nothing any more. */
export async function requireStillValid(context: AppContext, { bearer }: CallFacts): Promise<void> {
  await reauthenticate(context, bearer);
}

/**
 * The messages of the caller, until it ends the stream, cancels or disconnects, or until `over` fires. The iterator of
 * Node would destroy a stream that is ended with an error. While an answer is on its way, the status would then never be
 * sent, and the caller would wait for it indefinitely.
 */
export async function* requestsOf<Request>(
  call: ServerDuplexStream<Request, unknown>,
  over: AbortSignal,
): AsyncGenerator<Request, undefined> {
  let wake = (): void => {};
  const look = (): void => wake();
  call.on("readable", look);
  call.on("end", look);
  over.addEventListener("abort", look);
  try {
    for (;;) {
      const request = call.destroyed ? null : (call.read() as Request | null);
      if (request !== null) yield request;
      else if (over.aborted || call.destroyed || call.readableEnded) return undefined;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    call.off("readable", look);
    call.off("end", look);
    over.removeEventListener("abort", look);
  }
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
