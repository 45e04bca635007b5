/** The sending side of one viewer's socket. A slow reader never makes more than a bounded amount wait in memory. */
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { gatherWrites } from "../app/gather-writes.ts";
import type { OutgoingBudget, OutgoingReader } from "../app/outgoing-budget.ts";
import type { Clock } from "../domain/clock.ts";
import type { Logger } from "../domain/logger.ts";
import type { ServerMessage } from "./messages.ts";

const POLICY_VIOLATION = 1008;
const CLOSE_TIMEOUT_MS = 1_000;

/** A WebSocket and the connection below it. */
export interface ViewerSocket {
  readonly socket: WebSocket;
  readonly connection: Duplex;
}

export interface SendingBounds {
  /** A viewer that reads nothing for this long, while messages wait for it, is disconnected. */
  readonly stallMs: number;
  /** Shared by all viewers of the process. */
  readonly budget: OutgoingBudget;
}

export class ViewerSender implements OutgoingReader {
  readonly #socket: WebSocket;
  readonly #connection: Duplex;
  readonly #stallMs: number;
  readonly #log: Logger;
  readonly #budget: OutgoingBudget;
  readonly #clock: Pick<Clock, "monotonic">;
  /** When the viewer read something last, or had nothing to read, by the monotonic clock. */
  #tookAt: number;
  readonly #waiters = new Set<() => void>();
  #stallTimer: NodeJS.Timeout | undefined;

  constructor(
    { socket, connection }: ViewerSocket,
    { stallMs, budget }: SendingBounds,
    { log, clock }: { readonly log: Logger; readonly clock: Pick<Clock, "monotonic"> },
  ) {
    this.#socket = socket;
    this.#connection = connection;
    this.#stallMs = stallMs;
    this.#log = log;
    this.#budget = budget;
    this.#clock = clock;
    this.#tookAt = clock.monotonic();
    const leave = budget.enter(this);
    socket.on("close", () => {
      leave();
      this.#wakeWaiters();
    });
  }

  waitingBytes(): number {
    return this.#socket.bufferedAmount;
  }

  get tookAt(): number {
    return this.#tookAt;
  }

  /** Ends a viewer that does not read, because the bytes that wait for all viewers are too many. */
  end(): void {
    this.#disconnect("the server has too many viewers that do not read");
  }

  /** Sends a message. Does nothing once the socket is closing. */
  send(message: ServerMessage): void {
    this.sendText(JSON.stringify(message));
  }

  /** The same with the JSON text of a message. */
  sendText(text: string): void {
    if (!this.#isOpen()) return;
    this.#beforeWrite();
    gatherWrites(this.#connection);
    this.#socket.send(text, () => this.#written());
  }

  /**
   * Sends messages that are framed already, as the bytes of one buffer. The buffer is not copied: viewers share it. The
   * library makes the frames of every message again, which costs more than all else when many viewers follow one log.
   */
  sendFrames(frames: Buffer): void {
    // Without compression the library keeps no message back, so the order of all messages is that of the calls.
    if (!this.#isOpen()) return;
    this.#beforeWrite();
    this.#connection.write(frames, () => this.#written());
  }

  /** Waits until there is room for more messages. Resolves with false when the socket closes or `abort` fires. */
  async waitForRoom(abort: AbortSignal): Promise<boolean> {
    if (this.#isOpen() && !abort.aborted && this.#socket.bufferedAmount > this.#budget.readerBytes) {
      this.#budget.note();
      await new Promise<void>((resolve) => {
        const done = () => {
          this.#waiters.delete(done);
          abort.removeEventListener("abort", done);
          resolve();
        };
        this.#waiters.add(done);
        abort.addEventListener("abort", done);
        this.#stallTimer ??= setTimeout(() => this.#disconnect("nothing was read for too long"), this.#stallMs);
      });
    }
    return this.#isOpen() && !abort.aborted;
  }

  #isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  #beforeWrite(): void {
    if (this.#socket.bufferedAmount === 0) this.#tookAt = this.#clock.monotonic();
  }

  /** Called when the viewer has read something. */
  #written(): void {
    this.#tookAt = this.#clock.monotonic();
    if (this.#socket.bufferedAmount <= this.#budget.readerBytes) this.#wakeWaiters();
    else this.#stallTimer?.refresh();
  }

  #wakeWaiters(): void {
    clearTimeout(this.#stallTimer);
    this.#stallTimer = undefined;
    for (const done of this.#waiters) done();
  }

  #disconnect(text: string): void {
    this.#stallTimer = undefined;
    // A viewer that is full has subscriptions that wait; each one that did may have ended since.
    if (this.#waiters.size === 0 || !this.#isOpen()) return;
    this.#log.warn({ waitingBytes: this.#socket.bufferedAmount, text }, "a viewer that does not read is disconnected");
    this.#socket.close(POLICY_VIOLATION, text);
    setTimeout(() => this.#socket.terminate(), CLOSE_TIMEOUT_MS).unref();
    this.#wakeWaiters();
  }
}
