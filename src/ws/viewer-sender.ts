/** The sending side of one viewer's socket. A slow reader never makes more than a bounded amount wait in memory. */
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Logger } from "../domain/logger.ts";
import type { ServerMessage } from "./messages.ts";

const HIGH_WATER_BYTES = 1024 * 1024;
const POLICY_VIOLATION = 1008;
const CLOSE_TIMEOUT_MS = 1_000;

/** A WebSocket and the connection below it. */
export interface ViewerSocket {
  readonly socket: WebSocket;
  readonly connection: Duplex;
}

export class ViewerSender {
  readonly #socket: WebSocket;
  readonly #connection: Duplex;
  readonly #stallMs: number;
  readonly #log: Logger;
  readonly #waiters = new Set<() => void>();
  #stallTimer: NodeJS.Timeout | undefined;

  /** `stallMs`: a viewer that reads nothing for this long, while messages wait for it, is disconnected. */
  constructor({ socket, connection }: ViewerSocket, stallMs: number, log: Logger) {
    this.#socket = socket;
    this.#connection = connection;
    this.#stallMs = stallMs;
    this.#log = log;
    socket.on("close", () => this.#wakeWaiters());
  }

  /** Sends a message. Does nothing once the socket is closing. */
  send(message: ServerMessage): void {
    if (this.#isOpen()) this.#socket.send(JSON.stringify(message), () => this.#written());
  }

  /**
   * Sends messages that are framed already, as the bytes of one buffer. The buffer is not copied: viewers share it. The
   * library makes the frames of every message again, which costs more than all else when many viewers follow one log.
   */
  sendFrames(frames: Buffer): void {
    // Without compression the library keeps no message back, so the order of all messages is that of the calls.
    if (this.#isOpen()) this.#connection.write(frames, () => this.#written());
  }

  /** Waits until there is room for more messages. Resolves with false when the socket closes or `abort` fires. */
  async waitForRoom(abort: AbortSignal): Promise<boolean> {
    if (this.#isOpen() && !abort.aborted && this.#socket.bufferedAmount > HIGH_WATER_BYTES) {
      await new Promise<void>((resolve) => {
        const done = () => {
          this.#waiters.delete(done);
          abort.removeEventListener("abort", done);
          resolve();
        };
        this.#waiters.add(done);
        abort.addEventListener("abort", done);
        this.#stallTimer ??= setTimeout(() => this.#disconnect(), this.#stallMs);
      });
    }
    return this.#isOpen() && !abort.aborted;
  }

  #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** Called when the viewer has read something. */
  #written(): void {
    if (this.#socket.bufferedAmount <= HIGH_WATER_BYTES) this.#wakeWaiters();
    else this.#stallTimer?.refresh();
  }

  #wakeWaiters(): void {
    clearTimeout(this.#stallTimer);
    this.#stallTimer = undefined;
    for (const done of this.#waiters) done();
  }

  #disconnect(): void {
    this.#stallTimer = undefined;
    // No subscription waits any more: each one that did has ended.
    if (this.#waiters.size === 0) return;
    this.#log.warn({ waitingBytes: this.#socket.bufferedAmount }, "a viewer that does not read is disconnected");
    this.#socket.close(POLICY_VIOLATION, "nothing was read for too long");
    setTimeout(() => this.#socket.terminate(), CLOSE_TIMEOUT_MS).unref();
    this.#wakeWaiters();
  }
}
