/**
 * Counts the effects that the kernel and the edges perform, and when the kernel kept the places of each job. Events on
 * the feed are not counted: a viewer ignores an event whose number it has seen.
 */
import type { Board } from "../../../src/board/board.ts";
import type { JobRunId } from "../../../src/domain/ids.ts";
import type { MailboxSender } from "../../../queues/ports.ts";
import type { Feed } from "../../../src/feed/feed.ts";

interface EffectPorts {
  readonly board: Board;
  readonly feed: Feed;
  readonly mailboxes: MailboxSender;
}

export class Effects {
  /** How often each effect was performed, by what it does. */
  readonly counts = new Map<string, number>();
  /** When the places of a job were last kept, by the virtual clock. */
  readonly keptAt = new Map<JobRunId, number>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The same ports, whose effects are counted. */
  counted<Ports extends EffectPorts>(ports: Ports): Ports {
    const { board, feed, mailboxes } = ports;
    return {
      ...ports,
      board: {
        ...board,
        offer: (offer) => {
          this.#count(`offer of ${offer.jobId} queued at ${offer.queuedAt}`);
          return board.offer(offer);
        },
        occupy: (places) => {
          for (const { jobId } of places) this.keptAt.set(jobId, this.#now());
          return board.occupy(places);
        },
        vacate: (places) => {
          this.#count(`vacate of ${places.jobId}`);
          return board.vacate(places);
        },
      },
      feed: {
        ...feed,
        publish: (channel, payload) => {
          const { type, order } = payload as { type?: string; order?: { stepRunId: string; token: number } };
          if (type === "dispatch") this.#count(`dispatch of ${order!.stepRunId} under ${order!.token}`);
          return feed.publish(channel, payload);
        },
      },
      mailboxes: {
        ...mailboxes,
        sendAt: (message, dueAt, key) => {
          this.#count(`timer ${key} of ${message.rootId}`);
          return mailboxes.sendAt(message, dueAt, key);
        },
      },
    };
  }

  #count(effect: string): void {
    this.counts.set(effect, (this.counts.get(effect) ?? 0) + 1);
  }
}
