/**
 * The feed over Redis publish/subscribe. Redis stores nothing: a subscriber that is not connected misses the message.
 * One Redis message carries one or more payloads, each a line of JSON.
 */
import type { Cluster, Redis } from "ioredis";
import type { Logger } from "../domain/logger.ts";
import type { Feed, Unsubscribe } from "./feed.ts";

type Listener = (payload: unknown) => void;

interface Channel {
  readonly listeners: Set<{ readonly call: Listener }>;
  /** Resolves once Redis has the subscription. */
  readonly subscribed: Promise<unknown>;
}

/** The payloads that travel to one channel as one Redis message. */
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
  /** Messages by channel that are sent when the code that publishes now awaits something. */
  readonly #messages = new Map<string, Message>();

  /** `publisher` may be shared and stays open; `subscriber` is for this feed alone, and is closed with it. */
  constructor(options: { publisher: Redis | Cluster; subscriber: Redis | Cluster; log: Logger }) {
    this.#publisher = options.publisher;
    this.#subscriber = options.subscriber;
    this.#log = options.log;
    this.#subscriber.on("message", (channel: string, text: string) => this.#deliver(channel, text));
  }

  /**
   * Payloads that are published in one go travel as one Redis message, because Redis and its clients pay for each
   * message.
   */
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

  /** The Redis channel and message that a Lua script publishes in place of {@link publish}. */
  messageOf(channel: string, payload: unknown): readonly [channel: string, message: string] {
    return [PREFIX + channel, JSON.stringify(payload)];
  }

  async subscribe(channel: string, listener: Listener): Promise<Unsubscribe> {
    const key = PREFIX + channel;
    // The same function may listen twice, so each subscription has an entry of its own.
    const entry = { call: listener };
    const subscription = this.#channelOf(key);
    subscription.listeners.add(entry);
    const leave = async (): Promise<void> => {
      if (!subscription.listeners.delete(entry) || subscription.listeners.size > 0) return;
      this.#channels.delete(key);
      // Commands of one connection keep their order, so this does not undo a subscription that is made from now on.
      await this.#subscriber.unsubscribe(key);
    };
    try {
      await subscription.subscribed;
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

  #channelOf(key: string): Channel {
    let channel = this.#channels.get(key);
    if (channel === undefined) {
      channel = { listeners: new Set(), subscribed: this.#subscriber.subscribe(key) };
      this.#channels.set(key, channel);
    }
    return channel;
  }

  #send(channel: string, lines: readonly string[]): Promise<unknown> {
    this.#messages.delete(channel);
    return this.#publisher.publish(PREFIX + channel, lines.join("\n"));
  }

  #deliver(key: string, text: string): void {
    const channel = this.#channels.get(key);
    if (channel === undefined) return;
    // JSON text has no line feed inside, so each line is one payload.
    for (const line of text.split("\n")) this.#deliverOne(key, channel, line);
  }

  #deliverOne(key: string, channel: Channel, line: string): void {
    let payload: unknown;
    try {
      payload = JSON.parse(line);
    } catch {
      this.#log.warn({ channel: key }, "a message on the feed is not JSON; it was dropped");
      return;
    }
    for (const { call } of Array.from(channel.listeners)) {
      try {
        call(payload);
      } catch (error) {
        this.#log.error({ channel: key, error: (error as Error).message }, "a listener of the feed has failed");
      }
    }
  }
}
