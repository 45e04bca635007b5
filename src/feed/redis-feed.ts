/**
 * The feed over Redis publish/subscribe. Nothing is stored: who is not connected misses the message. A message of Redis
 * carries one payload or more, each a line of JSON.
 */
import type { Cluster, Redis } from "ioredis";
import type { Logger } from "../domain/logger.ts";
import type { Feed, Unsubscribe } from "./feed.ts";

type Listener = (payload: unknown) => void;

interface Channel {
  readonly listeners: Set<{ readonly call: Listener }>;
  readonly standing: Promise<unknown>;
}

/** What is published to one channel at once. */
interface Message {
  readonly lines: string[];
  readonly sent: Promise<unknown>;
}

const PREFIX = "feed:";

export class RedisFeed implements Feed {
  readonly #publisher: Redis | Cluster;
  readonly #subscriber: Redis | Cluster;
  readonly #log: Logger;
  readonly #channels = new Map<string, Channel>();
  /** By channel, until the code that publishes now gives way. */
  readonly #messages = new Map<string, Message>();

  /** `publisher` may be shared and stays open; `subscriber` is for this feed alone, and is closed with it. */
  constructor(options: { publisher: Redis | Cluster; subscriber: Redis | Cluster; log: Logger }) {
    this.#publisher = options.publisher;
    this.#subscriber = options.subscriber;
    this.#log = options.log;
    this.#subscriber.on("message", (channel: string, text: string) => this.#deliver(channel, text));
  }

  /** Redis and both its clients spend their time by the message: what is published together travels as one. */
  async publish(channel: string, payload: unknown): Promise<void> {
    const line = JSON.stringify(payload);
    let message = this.#messages.get(channel);
    if (message === undefined) {
      const lines: string[] = [];
      message = { lines, sent: Promise.resolve().then(() => this.#send(channel, lines)) };
      this.#messages.set(channel, message);
    }
    message.lines.push(line);
    await message.sent;
  }

  /** What a script publishes in the place of {@link publish}: Redis' channel and message. */
  messageOf(channel: string, payload: unknown): readonly [channel: string, message: string] {
    return [PREFIX + channel, JSON.stringify(payload)];
  }

  async subscribe(channel: string, listener: Listener): Promise<Unsubscribe> {
    const key = PREFIX + channel;
    // One function may listen twice, so each subscription has an entry of its own.
    const entry = { call: listener };
    let held = this.#channels.get(key);
    if (held === undefined) {
      held = { listeners: new Set(), standing: this.#subscriber.subscribe(key) };
      this.#channels.set(key, held);
    }
    const channelHeld = held;
    channelHeld.listeners.add(entry);
    const leave = async (): Promise<void> => {
      if (!channelHeld.listeners.delete(entry) || channelHeld.listeners.size > 0) return;
      this.#channels.delete(key);
      // Commands of one connection keep their order: a subscription made from now on is not undone by this.
      await this.#subscriber.unsubscribe(key);
    };
    try {
      await channelHeld.standing;
    } catch (error) {
      await leave().catch(() => {});
      throw error;
    }
    return leave;
  }

  async close(): Promise<void> {
    this.#channels.clear();
    this.#subscriber.disconnect();
  }

  #send(channel: string, lines: readonly string[]): Promise<unknown> {
    this.#messages.delete(channel);
    return this.#publisher.publish(PREFIX + channel, lines.join("\n"));
  }

  #deliver(key: string, text: string): void {
    const channel = this.#channels.get(key);
    if (channel === undefined) return;
    // JSON has no line feed within a value.
    for (const line of text.split("\n")) this.#deliverOne(key, channel, line);
  }

  #deliverOne(key: string, channel: Channel, line: string): void {
    let payload: unknown;
    try {
      payload = JSON.parse(line);
    } catch {
      this.#log.warn({ channel: key }, "a message on the feed is no JSON; dropped");
      return;
    }
    for (const { call } of Array.from(channel.listeners)) {
      try {
        call(payload);
      } catch (error) {
        this.#log.error({ channel: key, error: (error as Error).message }, "a listener of the feed has thrown");
      }
    }
  }
}
