/**
 * The feed over Redis publish/subscribe. Redis stores nothing: a subscriber that is not connected misses the message.
 * One Redis message carries one or more payloads, each a line of JSON.
 *
 * While no other node lives, no other process can listen: then payloads go to the listeners of this process as they are,
 * without Redis, and what has no listener is not published at all. A feed that connects says hello to the other feeds, so that they
 * publish again at once. A message that is lost all the same, in the moment before they know, is found in the store as
 * every lost message is.
 */
import type { Cluster, Redis } from "ioredis";
import type { Logger } from "../domain/logger.ts";
import { ChannelInterest } from "./channel-interest.ts";
import type { Feed, Unsubscribe } from "./feed.ts";

type Listener = (payload: unknown) => void;

interface Channel {
  readonly listeners: Set<{ readonly call: Listener }>;
  /** Resolves once Redis has the subscription. */
  readonly subscribed: Promise<unknown>;
}

/** The payloads that travel to one channel as one Redis message. */
interface Message {
  readonly payloads: unknown[];
  readonly sent: Promise<unknown>;
}

/** A message that goes to the listeners of this process or to Redis, as the feed finds out in a moment. */
interface Held {
  readonly key: string;
  readonly payloads: readonly unknown[];
  /** Settles the call that published it as `sent` settles. */
  readonly go: (sent: Promise<unknown> | undefined) => void;
}

const PREFIX = "feed:";
/** On this channel, feeds say that they listen, and a feed hears when its own earlier messages have come back. */
const HELLO = "feed-hello";
/** After a hello, this feed publishes everything for this long; by then the registry of nodes lists the other node. */
const HELLO_MS = 5_000;
/** Messages wait at most this long for the feed's own hello to come back. */
const HELD_MS = 1_000;

/** The second word of an announcement; the channels that the node follows are behind it. */
const FOLLOWS = "follows";

/** The node of a feed, among the others. */
export interface FeedNode {
  /** New with each start of the process. */
  readonly nodeId: string;
  /** True while certainly no other node lives. Asked for each message. */
  isAlone(): boolean;
}

export interface RedisFeedOptions {
  /** May be shared, and stays open. */
  readonly publisher: Redis | Cluster;
  /** For this feed alone; closed with it. */
  readonly subscriber: Redis | Cluster;
  /** Absent: other nodes may live at any time. */
  readonly node?: FeedNode;
  readonly log: Logger;
}

export class RedisFeed implements Feed {
  readonly #publisher: Redis | Cluster;
  readonly #subscriber: Redis | Cluster;
  readonly #node: FeedNode | undefined;
  readonly #log: Logger;
  /** True while payloads stay in this process. */
  #isLocal = false;
  /** Messages that wait until the feed hears its own hello, oldest first; null while none is on its way. */
  #held: Held[] | null = null;
  /** Counts the hellos of this feed to itself. */
  #asked = 0;
  /** Until then other feeds listen, monotonic milliseconds. */
  #publishesUntil = Number.NEGATIVE_INFINITY;
  readonly #channels = new Map<string, Channel>();
  readonly #interest: ChannelInterest;
  /** Messages by channel that are sent when the code that publishes now awaits something. */
  readonly #messages = new Map<string, Message>();

  constructor({ publisher, subscriber, node, log }: RedisFeedOptions) {
    this.#publisher = publisher;
    this.#subscriber = subscriber;
    this.#node = node;
    this.#log = log;
    this.#interest = new ChannelInterest(async (channels) => {
      if (node !== undefined) await publisher.publish(HELLO, [node.nodeId, FOLLOWS, ...channels].join(" "));
    });
    subscriber.on("message", (channel: string, text: string) => {
      if (channel === HELLO) this.#hear(text);
      else this.#hearLines(channel, text);
    });
    if (node === undefined) return;
    // Messages from before this subscription, or from the time of an outage, are in the store.
    subscriber.on("ready", () => this.#sayHello());
    subscriber.subscribe(HELLO).then(
      () => this.#sayHello(),
      () => undefined,
    );
  }

  /**
   * Payloads that are published in one go travel as one Redis message, because Redis and its clients pay for each
   * message.
   */
  async publish(channel: string, payload: unknown): Promise<void> {
    if (this.#staysHere() && !this.#channels.has(PREFIX + channel)) return;
    let message = this.#messages.get(channel);
    if (message === undefined) {
      const payloads: unknown[] = [];
      message = { payloads, sent: Promise.resolve().then(() => this.#send(channel, payloads)) };
      this.#messages.set(channel, message);
    }
    message.payloads.push(payload);
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

  async follow(channel: string, listener: Listener): Promise<Unsubscribe> {
    const leave = await this.subscribe(channel, listener);
    const leaveInterest = await this.#interest.enter(channel);
    return async () => {
      leaveInterest();
      await leave();
    };
  }

  isFollowed(channel: string): boolean {
    // A feed of no node hears no announcements.
    if (this.#node === undefined || this.#channels.has(PREFIX + channel)) return true;
    return this.#interest.isFollowedElsewhere(channel);
  }

  async close(): Promise<void> {
    this.#interest.close();
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

  async #send(channel: string, payloads: readonly unknown[]): Promise<void> {
    this.#messages.delete(channel);
    const key = PREFIX + channel;
    if (this.#staysHere()) {
      this.#deliver(key, payloads);
      return;
    }
    if (this.#held === null && this.#mayStayHere()) this.#askToHearItself();
    const held = this.#held;
    if (held === null) await this.#publisher.publish(key, linesOf(payloads));
    else await new Promise<unknown>((go) => held.push({ key, payloads, go }));
  }

  #mayStayHere(): boolean {
    return this.#node !== undefined && this.#node.isAlone() && performance.now() > this.#publishesUntil;
  }

  #staysHere(): boolean {
    this.#isLocal &&= this.#mayStayHere();
    return this.#isLocal;
  }

  /**
   * Says hello to itself and holds the messages that follow. When the hello comes back, everything that was published
   * before it has come back too, so nothing can be overtaken.
   */
  #askToHearItself(): void {
    const asked = ++this.#asked;
    this.#held = [];
    const giveUp = () => {
      if (asked === this.#asked) this.#release(false);
    };
    setTimeout(giveUp, HELD_MS).unref();
    this.#publisher.publish(HELLO, `${this.#node!.nodeId} ${asked}`).catch(giveUp);
  }

  #sayHello(): void {
    this.#release(false);
    this.#publisher.publish(HELLO, `${this.#node!.nodeId} -`).catch(() => undefined);
  }

  #hear(text: string): void {
    const [id, asked, ...channels] = text.split(" ");
    if (id !== this.#node!.nodeId) {
      if (asked === FOLLOWS) this.#interest.hear(channels);
      // A node that has just come does not know yet what is followed.
      else if (asked === "-") this.#interest.tellAll();
      this.#publishesUntil = performance.now() + HELLO_MS;
      this.#release(false);
    } else if (asked === String(this.#asked)) {
      this.#release(this.#mayStayHere());
    }
  }

  /** Ends the wait for the feed's own hello. Messages of one channel keep their order. */
  #release(isLocal: boolean): void {
    const held = this.#held;
    if (held === null) return;
    this.#held = null;
    this.#isLocal = isLocal;
    for (const { key, payloads, go } of held) {
      if (isLocal) this.#deliver(key, payloads);
      go(isLocal ? undefined : this.#publisher.publish(key, linesOf(payloads)));
    }
  }

  #hearLines(key: string, text: string): void {
    if (!this.#channels.has(key)) return;
    for (const line of text.split("\n")) {
      let payload: unknown;
      try {
        payload = JSON.parse(line);
      } catch {
        this.#log.warn({ channel: key }, "a message on the feed is not JSON; it was dropped");
        continue;
      }
      this.#deliver(key, [payload]);
    }
  }

  #deliver(key: string, payloads: readonly unknown[]): void {
    const channel = this.#channels.get(key);
    if (channel === undefined) return;
    for (const payload of payloads) {
      for (const { call } of Array.from(channel.listeners)) {
        try {
          call(payload);
        } catch (error) {
          this.#log.error({ channel: key, error: (error as Error).message }, "a listener of the feed has failed");
        }
      }
    }
  }
}

/** JSON text has no line feed inside, so each line is one payload. */
function linesOf(payloads: readonly unknown[]): string {
  return payloads.map((payload) => JSON.stringify(payload)).join("\n");
}
