/**
 * Reads the mailboxes of all shards that a node owns, with one blocking connection. It waits for the markers of all of
 * them at once; BullMQ sets a marker whenever an envelope may wait. On a cluster, the markers lie in several slots and no
 * command can wait for them together: there, senders tell the node (wake-key.ts), and it waits for its wake-up key only.
 *
 * While envelopes are fetched, the reader does not wait for markers. It looks into the mailboxes after each fetch
 * instead (mailbox-look.ts), so that one call finds what a fetch has left, what has come to other mailboxes, and what
 * other nodes tell this one: shards change hands at once also while there is much to fetch.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Cancel, regularly } from "../src/domain/clock.ts";
import type { Logger } from "../src/domain/logger.ts";
import type { RedisClient } from "../src/redis/connect.ts";
import { look, markerKey, type Look } from "./mailbox-look.ts";
import { ring, shardWord, wakeKey } from "./wake-key.ts";

/** A mailbox that is read. */
export interface ReadMailbox {
  readonly shard: number;
  /** How many more envelopes may be fetched now; 0 for a mailbox that is being closed. */
  readonly room: number;
  /** Fetches one envelope, if any. Answers when the next delayed one is due, Unix milliseconds; 0 when none is known. */
  fetch(): Promise<number>;
}

export interface JointReaderOptions {
  /** For commands that do not block. */
  readonly redis: RedisClient;
  /** For the one command that blocks. The reader disconnects it at its end. */
  readonly blocking: RedisClient;
  readonly nodeId: string;
  /** Called with each word that another node told this one, except the words about mailboxes that are read here. */
  readonly onWord: (word: string) => void;
  readonly log: Logger;
}

interface Place {
  readonly mailbox: ReadMailbox;
  readonly marker: string;
  /** Envelopes that are known to wait. */
  waiting: number;
  /** When the next delayed envelope is due, Unix milliseconds; Infinity when none is known. */
  dueAt: number;
  /** True while envelopes are being fetched. */
  isServed: boolean;
  timer: NodeJS.Timeout | undefined;
}

/** A look that is requested and not sent yet. */
interface RequestedLook {
  readonly place: Place;
  readonly resolve: (found: Look | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Longest wait for a marker. After it the reader looks into every mailbox in any case, so that a lost marker costs no
 * more.
 */
const LONGEST_WAIT_MS = 5_000;
/** The same on a cluster while a node of an earlier release lives, which does not tell owners what it sends. */
const UNTOLD_WAIT_MS = 250;
/**
 * How much longer than asked a blocking command may take before its connection counts as broken. A private Redis looks once a
 * second for commands whose time is over.
 */
const OVERDUE_MS = 2_000;
/** Pause after a failed command of Redis. */
const RETRY_MS = 500;

export class JointReader {
  readonly #options: JointReaderOptions;
  readonly #wakeKey: string;
  readonly #places = new Map<number, Place>();
  readonly #requested: RequestedLook[] = [];
  /** The number of mailboxes whose envelopes are being fetched. */
  #serving = 0;
  #onIdle: (() => void) | undefined;
  /** True while the blocking command waits for keys without a mailbox that was added later. */
  #isOutdated = false;
  #isWaiting = false;
  #isClosed = false;
  #looksOften = false;
  #cancelLook: Cancel = () => {};

  /** Begins to wait. */
  constructor(options: JointReaderOptions) {
    this.#options = options;
    this.#wakeKey = wakeKey(options.nodeId);
    this.#lookOften(false);
    void this.#run();
  }

  /** On a cluster: whether some senders do not tell owners what they send. */
  set hasSilentSenders(isSo: boolean) {
    if (this.#isCluster && isSo !== this.#looksOften && !this.#isClosed) this.#lookOften(isSo);
  }

  /** Reads this mailbox too, beginning with a fetch. */
  add(mailbox: ReadMailbox): void {
    const marker = markerKey(mailbox.shard);
    const place: Place = { mailbox, marker, waiting: 1, dueAt: Infinity, isServed: false, timer: undefined };
    this.#places.set(mailbox.shard, place);
    this.#start(place);
    this.#renewWait();
  }

  /** Begins no further fetch from this mailbox. */
  remove({ shard }: ReadMailbox): void {
    clearTimeout(this.#places.get(shard)?.timer);
    this.#places.delete(shard);
  }

  /** To be called when a mailbox has room again. */
  onRoom({ shard }: ReadMailbox): void {
    const place = this.#places.get(shard);
    if (place !== undefined && place.waiting > 0) this.#start(place);
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#cancelLook();
    for (const { timer } of this.#places.values()) clearTimeout(timer);
    this.#places.clear();
    this.#options.blocking.disconnect();
    this.#onIdle?.();
  }

  #lookOften(often: boolean): void {
    this.#looksOften = often;
    this.#cancelLook();
    this.#cancelLook = regularly(often ? UNTOLD_WAIT_MS : LONGEST_WAIT_MS, () => void this.#lookIntoAll());
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      try {
        // On one server, the blocking command would only take the markers that the fetches set.
        while (this.#serving > 0 && !this.#isCluster) await new Promise<void>((resolve) => (this.#onIdle = resolve));
        if (this.#isClosed) return;
        await this.#wait();
      } catch (error) {
        if (this.#isClosed) return;
        this.#options.log.debug({ error: String(error) }, "the mailboxes cannot be waited for; trying again");
        await sleep(RETRY_MS);
        void this.#lookIntoAll();
      }
    }
  }

  get #isCluster(): boolean {
    return this.#options.redis.isCluster;
  }

  /** Waits for a marker or a word. */
  async #wait(): Promise<void> {
    const { blocking } = this.#options;
    const markers = this.#isCluster ? [] : [...this.#places.values()].map(({ marker }) => marker);
    this.#isOutdated = false;
    this.#isWaiting = true;
    const taken = blocking.bzpopmin(this.#wakeKey, ...markers, LONGEST_WAIT_MS / 1_000);
    // What a late answer took must be heeded too: ioredis repeats the command after a loss of the connection.
    const heeded = taken.then((answer) => this.#heed(answer));
    heeded.catch(() => undefined);
    try {
      while (!(await this.#isSettledInTime(heeded)) && !this.#isClosed) {
        // Without a connection, ioredis keeps the command and sends it later.
        if (blocking.status !== "ready") continue;
        blocking.disconnect(true);
        return;
      }
    } finally {
      this.#isWaiting = false;
    }
  }

  async #isSettledInTime(heeded: Promise<void>): Promise<boolean> {
    let watchdog: NodeJS.Timeout | undefined;
    const overdue = new Promise<false>((resolve) => {
      watchdog = setTimeout(resolve, LONGEST_WAIT_MS + OVERDUE_MS, false);
    });
    const settled = heeded.then(() => true);
    return Promise.race([settled, overdue]).finally(() => clearTimeout(watchdog));
  }

  #heed(answer: readonly [key: string, member: string, score: string] | null): void {
    if (answer === null || this.#isClosed) return;
    const [key, member, score] = answer;
    if (key === this.#wakeKey) {
      this.#heedWord(member);
      return;
    }
    const place = [...this.#places.values()].find(({ marker }) => marker === key);
    if (place === undefined) {
      // The mailbox has another owner by now, or will have: the marker is for that one.
      void this.#options.redis.zadd(key, "NX", score, member).catch(() => undefined);
      return;
    }
    // The score of a delayed envelope's marker says when it is due.
    if (Number(score) > 0) place.dueAt = Math.min(place.dueAt, Number(score));
    else place.waiting = Math.max(1, place.waiting);
    this.#start(place);
  }

  #heedWord(word: string): void {
    const about = shardWord(word);
    if (about?.kind === "mail" && this.#places.has(about.shard)) this.lookInto(about.shard);
    else this.#options.onWord(word);
  }

  /** Fetches from a mailbox soon, because an envelope may wait there. */
  lookInto(shard: number): void {
    const place = this.#places.get(shard);
    if (place === undefined) return;
    place.waiting = Math.max(1, place.waiting);
    this.#start(place);
  }

  /** Ends the wait for keys that lack a mailbox; once, however many mailboxes are added meanwhile. */
  #renewWait(): void {
    if (this.#isCluster || this.#isOutdated || !this.#isWaiting) return;
    this.#isOutdated = true;
    const { redis, nodeId } = this.#options;
    void ring(redis, nodeId, "look").catch(() => undefined);
  }

  #start(place: Place): void {
    if (place.isServed || this.#isClosed) return;
    place.isServed = true;
    this.#serving++;
    void this.#serve(place).finally(() => {
      place.isServed = false;
      this.#serving--;
      // A marker may have been heeded after the last look.
      if (place.waiting > 0 && place.mailbox.room > 0 && this.#isOpen(place)) this.#start(place);
      else if (this.#isOpen(place)) this.#setTimer(place);
      if (this.#serving === 0) this.#onIdle?.();
    });
  }

  /** Fetches until no envelope is known to wait, or the mailbox has no room. Never rejects. */
  async #serve(place: Place): Promise<void> {
    while (this.#isOpen(place)) {
      if (place.dueAt <= Date.now()) {
        place.waiting = Math.max(1, place.waiting);
        place.dueAt = Infinity;
      }
      const count = Math.min(place.waiting, place.mailbox.room);
      if (count === 0) return;
      place.waiting = 0;
      try {
        const fetches = Array.from({ length: count }, () => place.mailbox.fetch());
        const [found, ...dueAts] = await Promise.all([this.#look(place), ...fetches]);
        this.#apply(place, found ?? { waiting: 0, dueAt: dueAts.at(-1) || Infinity });
      } catch (error) {
        const { shard } = place.mailbox;
        this.#options.log.debug({ shard, error: String(error) }, "a mailbox cannot be read; trying again");
        place.waiting = 1;
        await sleep(RETRY_MS);
      }
    }
  }

  #isOpen(place: Place): boolean {
    return !this.#isClosed && this.#places.get(place.mailbox.shard) === place;
  }

  /** A marker that was heeded meanwhile stays heeded. */
  #apply(place: Place, { waiting, dueAt }: Look): void {
    place.waiting = Math.max(place.waiting, waiting);
    place.dueAt = dueAt;
  }

  #setTimer(place: Place): void {
    clearTimeout(place.timer);
    place.timer = undefined;
    if (place.dueAt === Infinity) return;
    const leftMs = Math.min(LONGEST_WAIT_MS, Math.max(1, place.dueAt - Date.now()));
    place.timer = setTimeout(() => this.#start(place), leftMs);
  }

  /** Sent behind the fetches of the same turn of the event loop, in one call for all mailboxes of the server. */
  #look(place: Place): Promise<Look | undefined> {
    return new Promise((resolve, reject) => {
      this.#requested.push({ place, resolve, reject });
      if (this.#requested.length === 1) setImmediate(() => void this.#sendLooks());
    });
  }

  async #sendLooks(): Promise<void> {
    const requests = this.#requested.splice(0);
    const asked = new Map(requests.map((request) => [request.place, request]));
    // The blocking command takes one marker at a time. When envelopes come to many mailboxes at once, a look at all of
    // them finds the others without a round trip for each.
    const others = this.#isCluster ? [] : [...this.#places.values()].filter((place) => !place.isServed);
    await this.#lookInto([...asked.keys(), ...others], false, (place, found) => {
      const request = asked.get(place);
      if (request !== undefined) request.resolve(found);
      else if (found !== undefined) this.#heedLook(place, found);
    }).catch((error: unknown) => {
      for (const { reject } of requests) reject(error);
    });
  }

  /** Finds envelopes whose marker was lost. */
  async #lookIntoAll(): Promise<void> {
    const places = [...this.#places.values()].filter((place) => !place.isServed);
    await this.#lookInto(places, true, (place, found) => this.#heedLook(place, found!)).catch((error: unknown) => {
      this.#options.log.debug({ error: String(error) }, "the mailboxes cannot be looked into; trying again");
    });
  }

  #heedLook(place: Place, found: Look): void {
    this.#apply(place, found);
    if (place.waiting > 0 || place.dueAt !== Infinity) this.#start(place);
  }

  async #lookInto(
    places: readonly Place[],
    deep: boolean,
    heed: (place: Place, found: Look | undefined) => void,
  ): Promise<void> {
    const calls = this.#isCluster ? places.map((place) => [place]) : places.length > 0 ? [places] : [];
    await Promise.all(
      calls.map(async (some) => {
        const markers = some.map(({ marker }) => marker);
        const wakeKey = this.#isCluster ? null : this.#wakeKey;
        const { found, words } = await look(this.#options.redis, markers, { deep, wakeKey });
        some.forEach((place, at) => heed(place, found[at]));
        if (!this.#isClosed) for (const word of words) this.#heedWord(word);
      }),
    );
  }
}
