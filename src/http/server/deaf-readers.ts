/**
 * Bounds the bytes of answers that wait for callers who do not read them. A connection whose caller takes nothing of an answer
 * for half a minute is ended. When the answers of all callers hold too much memory, connections are ended sooner, those
 * with the most bytes first.
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { type OutgoingBounds, OutgoingBudget, type OutgoingReader } from "../../app/outgoing-budget.ts";
import type { Clock } from "../../domain/clock.ts";

/** A caller may take nothing of an answer for this long. */
const DEAF_MS = 30_000;

export interface DeafBounds extends Partial<OutgoingBounds> {
  /** Milliseconds for which a caller may take nothing of an answer; default 30,000. */
  readonly answerMs?: number;
}

/** Answers the function to which each answer is given before it is made. */
export function endDeafReaders(
  clock: Pick<Clock, "monotonic">,
  { answerMs = DEAF_MS, ...bounds }: DeafBounds = {},
): {
  readonly watch: (request: IncomingMessage, response: ServerResponse) => void;
  readonly bind: (server: Server) => void;
} {
  const budget = new OutgoingBudget(clock, bounds);
  return {
    watch({ socket }, response) {
      const leave = budget.enter(new AnswerReader(clock, socket, response));
      response.once("close", leave);
      // The answer is complete, and the caller has not taken all of it; a body that is a stream waits for its reader.
      response.once("prefinish", () => budget.note());
      response.once("pipe", () => budget.note());
    },
    bind(server) {
      // The library looks whether anything of a long write has been taken before it tells of a timeout.
      server.setTimeout(answerMs, (socket) => {
        if (socket.writableLength > 0) socket.destroy();
      });
    },
  };
}

/** How a caller takes one answer. */
class AnswerReader implements OutgoingReader {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #socket: Socket;
  readonly #response: ServerResponse;
  #taken = 0;
  #tookAt: number;

  constructor(clock: Pick<Clock, "monotonic">, socket: Socket, response: ServerResponse) {
    this.#clock = clock;
    this.#socket = socket;
    this.#response = response;
    this.#tookAt = clock.monotonic();
  }

  get tookAt(): number {
    return this.#tookAt;
  }

  waitingBytes(): number {
    const waiting = this.#response.writableLength;
    const now = this.#socket.bytesWritten - queuedBytes(this.#socket);
    if (waiting === 0 || now !== this.#taken) this.#tookAt = this.#clock.monotonic();
    this.#taken = now;
    return waiting;
  }

  end(): void {
    this.#socket.destroy();
  }
}

/**
 * What the system has not taken yet of the write in hand. The public figures of a socket count a long write at once; the timeouts
 * of the library look at this figure, too.
 */
function queuedBytes(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null };
  return handle?.writeQueueSize ?? 0;
}
