/** The sending side of one viewer's socket: never more than a bounded amount waits in memory for a slow reader. */
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Logger } from "../domain/logger.ts";
import type { ServerMessage } from "./messages.ts";

const HIGH_WATER_BYTES = 1024 * 1024;
const POLICY_VIOLATION = 1008;
const LAST_WORDS_MS = 1_000;

/** A WebSocket and the connection below it. */
export interface ViewerSocket {
  readonly socket: WebSocket;
  readonly connection: Duplex;
}

export class Outlet {
  readonly #socket: WebSocket;
  readonly #connection: Duplex;
  readonly #stallMs: number;
  readonly #log: Logger;
  readonly #waiting = new Set<() => void>();
  #stall: NodeJS.Timeout | undefined;

  /** `stallMs`: a reader that takes nothing for so long while something waits for it is dropped. */
  constructor({ socket, connection }: ViewerSocket, stallMs: number, log: Logger) {
    this.#socket = socket;
    this.#connection = connection;
    this.#stallMs = stallMs;
    this.#log = log;
    socket.on("close", () => this.#release());
  }

  /** Sends or, once the socket is closing, does nothing. */
  send(message: ServerMessage): void {
    this.sendTexts([JSON.stringify(message)]);
  }

  /** Sends each text as a message of its own, all of them with one call of the system, which costs more than any of them. */
  sendTexts(texts: readonly string[]): void {
    if (!this.#isOpen()) return;
    const last = texts.length - 1;
    this.#connection.cork();
    for (const [index, text] of texts.entries()) {
      // The connection tells of all of them at once, too.
      this.#socket.send(text, index === last ? () => this.#written() : undefined);
    }
    this.#connection.uncork();
  }

  /** Resolves when there is room for more: true, or false when the socket closes or `abort` fires. */
  async room(abort: AbortSignal): Promise<boolean> {
    if (this.#isOpen() && !abort.aborted && this.#socket.bufferedAmount > HIGH_WATER_BYTES) {
      await new Promise<void>((resolve) => {
        const done = () => {
          this.#waiting.delete(done);
          abort.removeEventListener("abort", done);
          resolve();
        };
        this.#waiting.add(done);
        abort.addEventListener("abort", done);
        this.#stall ??= setTimeout(() => this.#drop(), this.#stallMs);
      });
    }
    return this.#isOpen() && !abort.aborted;
  }

  #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** Something was taken by the reader's side. */
  #written(): void {
    if (this.#socket.bufferedAmount <= HIGH_WATER_BYTES) this.#release();
    else this.#stall?.refresh();
  }

  #release(): void {
    clearTimeout(this.#stall);
    this.#stall = undefined;
    for (const done of this.#waiting) done();
  }

  #drop(): void {
    this.#stall = undefined;
    // Everybody who waited has given up: their subscriptions ended by themselves.
    if (this.#waiting.size === 0) return;
    this.#log.warn({ waitingBytes: this.#socket.bufferedAmount }, "a viewer that does not read is dropped");
    this.#socket.close(POLICY_VIOLATION, "nothing was read for too long");
    setTimeout(() => this.#socket.terminate(), LAST_WORDS_MS).unref();
    this.#release();
  }
}
