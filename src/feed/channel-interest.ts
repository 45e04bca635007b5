/**
 * Which channels clients follow, on this node and on others. Nodes tell each other what they follow, and tell it again now
 * and then. What a node has told counts for some seconds, so that a node which dies costs the others nothing afterwards.
 */

import { type Clock, systemClock } from "../domain/clock.ts";

/** Between two announcements of what a node follows, and how long each of them counts. */
const ANNOUNCE_MS = 3_000;
const COUNTS_MS = 10_000;
/** Channels of one message, at most. */
const MOST_CHANNELS = 200;

export class ChannelInterest {
  readonly #tell: (channels: readonly string[]) => Promise<unknown>;
  /** The channels that this node follows, by the number of followers. */
  readonly #followed = new Map<string, number>();
  /** Until when the followers of other nodes count, by channel, monotonic milliseconds. */
  readonly #followedUntil = new Map<string, number>();
  readonly #clock: Pick<Clock, "monotonic">;
  #sweptAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  /** Channels that the other nodes are told of when the code that follows them now awaits something. */
  #untold: string[] = [];
  #told: Promise<void> = Promise.resolve();

  /** `tell` tells all other nodes that this one follows these channels. Its failure only delays what they know. */
  constructor(tell: (channels: readonly string[]) => Promise<unknown>, clock: Pick<Clock, "monotonic"> = systemClock) {
    this.#tell = tell;
    this.#clock = clock;
  }

  /** Counts a follower. Resolves when the other nodes are told of the channel, with the function that counts it out. */
  async enter(channel: string): Promise<() => void> {
    const before = this.#followed.get(channel) ?? 0;
    this.#followed.set(channel, before + 1);
    this.#timer ??= setInterval(() => this.tellAll(), ANNOUNCE_MS).unref();
    if (before === 0) {
      if (this.#untold.length === 0) this.#told = Promise.resolve().then(() => this.#tellSome(this.#untold.splice(0)));
      this.#untold.push(channel);
    }
    await this.#told;
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#leave(channel);
    };
  }

  /** Tells the other nodes all that this one follows. */
  tellAll(): void {
    void this.#tellSome(Array.from(this.#followed.keys()));
  }

  /** Another node follows these channels. */
  hear(channels: readonly string[]): void {
    const now = this.#clock.monotonic();
    for (const channel of channels) this.#followedUntil.set(channel, now + COUNTS_MS);
    if (now - this.#sweptAt < COUNTS_MS) return;
    this.#sweptAt = now;
    for (const [channel, until] of this.#followedUntil) if (until <= now) this.#followedUntil.delete(channel);
  }

  isFollowedElsewhere(channel: string): boolean {
    return (this.#followedUntil.get(channel) ?? Number.NEGATIVE_INFINITY) > this.#clock.monotonic();
  }

  /** How many channels other nodes are remembered to follow. */
  get size(): number {
    return this.#followedUntil.size;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #leave(channel: string): void {
    const left = this.#followed.get(channel)! - 1;
    if (left > 0) this.#followed.set(channel, left);
    else this.#followed.delete(channel);
    if (this.#followed.size === 0) this.close();
  }

  async #tellSome(channels: readonly string[]): Promise<void> {
    const told: Promise<unknown>[] = [];
    for (let at = 0; at < channels.length; at += MOST_CHANNELS) {
      told.push(this.#tell(channels.slice(at, at + MOST_CHANNELS)).catch(() => undefined));
    }
    await Promise.all(told);
  }
}
