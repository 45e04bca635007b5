/** Ports around the kernel that record each call. A test can make them fail, as when Redis is lost. */
import type { AddressedMessage } from "../../queues/envelope.ts";
import type { MailboxSender } from "../../queues/ports.ts";
import type { Board, Places } from "../../src/board/board.ts";
import type { Offer } from "../../src/domain/effects.ts";
import type { Logger } from "../../src/domain/logger.ts";
import type { Feed, Unsubscribe } from "../../src/feed/feed.ts";

export class RecordingPorts {
  readonly offers = new Map<string, Offer>();
  readonly offered: string[] = [];
  readonly occupied: Places[] = [];
  readonly vacated: string[] = [];
  readonly published: { channel: string; payload: unknown }[] = [];
  readonly scheduled: { message: AddressedMessage; dueAt: number; key: string }[] = [];
  /** Set to make every call reject. */
  outage = false;

  readonly board: Board = {
    offer: (offer) =>
      this.#call(() => {
        this.offers.set(offer.jobId, offer);
        this.offered.push(offer.jobId);
      }),
    withdraw: (jobId, queuedAt = Infinity) =>
      this.#call(() => {
        if ((this.offers.get(jobId)?.queuedAt ?? 0) <= queuedAt) this.offers.delete(jobId);
      }),
    take: () => Promise.resolve([]),
    reserve: () => Promise.resolve(undefined),
    hide: () => Promise.resolve(),
    attend: () => Promise.resolve({ lasts: true, offers: 0, ended: [] }),
    onOffered: () => Promise.resolve(() => Promise.resolve()),
    occupy: (places) => this.#call(() => void this.occupied.push(...places)),
    vacate: ({ jobId }) => this.#call(() => void this.vacated.push(jobId)),
    quotaUse: () => Promise.resolve([]),
    tenantsOf: () => Promise.resolve(new Map()),
    find: (jobIds) => Promise.resolve(jobIds.flatMap((jobId) => this.offers.get(jobId) ?? [])),
    size: () => Promise.resolve(this.offers.size),
  };

  /** Channels that another node follows. */
  readonly followed = new Set<string>();

  readonly feed: Feed = {
    publish: (channel, payload) => this.#call(() => void this.published.push({ channel, payload })),
    subscribe: (): Promise<Unsubscribe> => Promise.resolve(() => Promise.resolve()),
    follow: () => Promise.resolve(() => Promise.resolve()),
    isFollowed: (channel) => this.followed.has(channel),
    close: () => Promise.resolve(),
  };

  readonly mailboxes: MailboxSender = {
    send: () => this.#call(() => undefined),
    sendAt: (message, dueAt, key) => this.#call(() => void this.scheduled.push({ message, dueAt, key })),
    close: () => Promise.resolve(),
  };

  /** Published payloads with this `type`, such as notices to agents. */
  notices(type: string): readonly Record<string, unknown>[] {
    return this.published
      .map(({ payload }) => payload as Record<string, unknown>)
      .filter((payload) => payload["type"] === type);
  }

  #call(record: () => void): Promise<void> {
    if (this.outage) return Promise.reject(new Error("Redis cannot be reached"));
    record();
    return Promise.resolve();
  }
}

export const silentLog: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
