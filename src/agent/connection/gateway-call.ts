/** Calls of the gateway that carry content: gone on with by a new call when one breaks, until nothing gets through for long. */
import { type Metadata, status } from "@grpc/grpc-js";
import type { GatewayClient } from "../../../proto/generated/gateway/v1/gateway.ts";
import { MillraceError } from "../../domain/errors.ts";
import { Backoff } from "./backoff.ts";

/** How long nothing may get through, over all attempts. */
const MAX_STALL_MS = 120_000;

/** What no other attempt would change. */
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
}

/** One attempt: where it writes to and reads from, and whom it tells that it gets on. */
export interface Attempt<Request, Response> {
  readonly write: (request: Request) => void;
  /** The next answer. Rejects when the call is over. */
  readonly next: () => Promise<Response>;
  readonly onProgress: () => void;
}

interface Stream<Request, Response> extends AsyncIterable<Response> {
  write(request: Request): unknown;
  cancel(): void;
  on(event: "error", listener: () => void): unknown;
}

/**
 * What `attempt` resolves to on a stream that `open` has opened; after a break on another one. Rejects with the reason of
 * `signal`, with what `attempt` itself rejects with, with the plane's refusal, or with `unavailable`.
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
      // The iterator is told, too; nobody else must be missing for it.
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
      const text = `nothing gets through to the control plane for ${MAX_STALL_MS / 1_000} s: ${why}`;
      throw new MillraceError("unavailable", text);
    }
    await backoff.wait(signal);
  }
}

class BrokenCall extends Error {}

/** Throws what lasts. */
function reasonToRetry(error: unknown): string {
  if (error instanceof BrokenCall) return error.message;
  const { code, details } = error as { code?: unknown; details?: string };
  if (typeof code !== "number") throw error;
  if (FINAL_CODES.includes(code)) throw new MillraceError("conflict", details ?? status[code] ?? "refused");
  return details ?? status[code] ?? "it broke";
}
