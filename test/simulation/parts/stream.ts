/**
 * The stream between an agent and a gateway. Messages come in order; some may be dropped or doubled, as the protocol
 * of agents allows. When the stream breaks, what is under way is lost, and each side notices later.
 */
import type { Process } from "../engine/process.ts";
import type { World } from "../engine/world.ts";

export interface StreamEnd {
  readonly process: Process;
  /** Called when the other side, or the network, has ended the stream. */
  readonly onEnd: () => void;
}

/** A broken connection is noticed after this long at most, milliseconds. */
const NOTICED_MS = 2_000;
const MESSAGE_MS = 5;

export class Stream {
  readonly #world: World;
  readonly #ends: readonly StreamEnd[];
  readonly #newestAt = new Map<StreamEnd, number>();
  #isOpen = true;

  constructor(world: World, agent: StreamEnd, gateway: StreamEnd) {
    this.#world = world;
    this.#ends = [agent, gateway];
    for (const { process } of this.#ends) {
      if (process.isAlive) process.onDeath.push(() => this.break());
      else this.break();
    }
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Sends a message to one end; `receive` is what the message does there. */
  send(to: StreamEnd, what: string, receive: () => void, mayFail = true): void {
    const { draws, scheduler, streamFaults, trace } = this.#world;
    if (!this.#isOpen) return;
    if (mayFail && draws.chance(streamFaults.messageDropped)) return;
    const times = mayFail && draws.chance(streamFaults.messageDoubled) ? 2 : 1;
    for (let time = 0; time < times; time++) {
      const delayMs = draws.fraction() * (draws.chance(streamFaults.slow) ? streamFaults.slowMs : MESSAGE_MS);
      const at = Math.max(scheduler.now + delayMs, this.#newestAt.get(to) ?? 0);
      this.#newestAt.set(to, at);
      scheduler.after(at - scheduler.now, () => {
        // What has arrived is read, also when the stream breaks before its reader gets to it.
        if (!this.#isOpen) return;
        to.process.enter(() => {
          trace.note(() => `${to.process.name} receives ${what}`);
          receive();
        });
      });
    }
  }

  /** Breaks the stream: both sides notice after a while. */
  break(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    for (const { process, onEnd } of this.#ends) process.after(this.#world.draws.fraction() * NOTICED_MS, onEnd);
  }

  /** Ends the stream in order: the other side notices at once. */
  end(by: StreamEnd): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    for (const end of this.#ends) if (end !== by) end.process.after(MESSAGE_MS, end.onEnd);
  }
}
