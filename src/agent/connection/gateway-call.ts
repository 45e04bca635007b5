/**
 * Calls of the gateway that carry content. When a call breaks, a new one continues the work, until no progress was made
 * for two minutes.
 */
import { type Metadata, status } from "@grpc/grpc-js";
import type { GatewayClient } from "../../../proto/generated/gateway/v1/gateway.ts";
import { MillraceError } from "../../domain/errors.ts";
import { Backoff } from "./backoff.ts";

/** Longest time without progress, over all attempts. */
const MAX_STALL_MS = 120_000;

/** Codes of answers that another attempt would not change. */
const FINAL_CODES: readonly status[] = [
  status.INVALID_ARGUMENT,
  status.NOT_FOUND,
  status.ALREADY_EXISTS,
  status.PERMISSION_DENIED,
  status.FAILED_PRECONDITION,
  status.OUT_OF_RANGE,
  status.UNIMPLEMENTED,
];

export interface GatewayAccess {
  readonly client: GatewayClient;
  /** Undefined while the agent has no token. */
  readonly metadata: () => Metadata | undefined;
  /** With which the types of events begin. */
  readonly eventNamespace: () => string;
}

/** One attempt of a call. */
export interface Attempt<Request, Response> {
  readonly write: (request: Request) => void;
  /** Reads the next answer. Rejects when the call has ended. */
  readonly next: () => Promise<Response>;
  /** To be called after each progress: it starts the time without progress again. */
  readonly onProgress: () => void;
}

interface Stream<Request, Response> extends AsyncIterable<Response> {
  write(request: Request): unknown;
  cancel(): void;
  on(event: "error", listener: () => void): unknown;
}

/**
 * Runs `attempt` on a stream that `open` opens, and again on a new stream when one breaks. Resolves with the result of
 * `attempt`. Rejects with the reason of `signal`, with an error that `attempt` itself throws, with `conflict` when the
 * gateway refuses the call, or with `unavailable` after two minutes without progress.
 */
export async function callWithRetries<Request, Response, T>(
  { client, metadata }: GatewayAccess,
  open: (client: GatewayClient, metadata: Metadata) => Stream<Request, Response>,
  attempt: (call: Attempt<Request, Response>) => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const backoff = new Backoff();
  let progressAt = performance.now();
  for (;;) {
    const token = metadata();
    let why = "this agent has no token";
    if (token !== undefined) {
      const stream = open(client, token);
      // The iterator rejects with the error too. Without this listener, the event would end the process.
      stream.on("error", () => {});
      const cancel = (): void => stream.cancel();
      const leftMs = (): number => Math.max(0, progressAt + MAX_STALL_MS - performance.now());
      let patience = setTimeout(cancel, leftMs());
      signal.addEventListener("abort", cancel, { once: true });
      const answers = stream[Symbol.asyncIterator]();
      try {
        return await attempt({
          write: (request) => void stream.write(request),
          next: async () => {
            const { value, done } = await answers.next();
            if (done === true) throw new BrokenCall("the control plane has ended the call");
            return value;
          },
          onProgress: () => {
            progressAt = performance.now();
            clearTimeout(patience);
            patience = setTimeout(cancel, leftMs());
            backoff.reset();
          },
        });
      } catch (error) {
        signal.throwIfAborted();
        why = reasonToRetry(error);
      } finally {
        clearTimeout(patience);
        signal.removeEventListener("abort", cancel);
        stream.cancel();
      }
    }
    signal.throwIfAborted();
    if (performance.now() - progressAt >= MAX_STALL_MS) {
      const text = `nothing gets through to the gateway for ${MAX_STALL_MS / 1_000} s: ${why}`;
      throw new MillraceError("unavailable", text);
    }
    await backoff.wait(signal);
  }
}

class BrokenCall extends Error {}

/** Why another attempt may succeed, as text for users. Throws when it cannot. */
function reasonToRetry(error: unknown): string {
  if (error instanceof BrokenCall) return error.message;
  const { code, details } = error as { code?: unknown; details?: string };
  if (typeof code !== "number") throw error;
  if (FINAL_CODES.includes(code)) throw new MillraceError("conflict", details ?? status[code] ?? "refused");
  return details ?? status[code] ?? "it broke";
}
