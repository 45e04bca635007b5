/**
 * The mailboxes of a simulated Redis, as BullMQ keeps them: an envelope waits, is active while an owner has it, and is
 * gone when the owner has completed it. Here every envelope holds one message.
 */
import type { AddressedMessage } from "../../../queues/envelope.ts";

export interface Envelope {
  readonly id: number;
  /** Null for an envelope that was not sent for a later time. */
  readonly key: string | null;
  readonly message: AddressedMessage;
}

interface Mailbox {
  waiting: Envelope[];
  readonly active: Map<number, Envelope>;
  /** The keys of envelopes that are in the mailbox, due or not. */
  readonly keys: Set<string>;
}

export class Mailboxes {
  readonly #mailboxes: Mailbox[];
  /** Called when an envelope waits, once for each wait. */
  readonly #markers: (() => void)[][];
  #ids = 0;

  constructor(shards: number) {
    this.#mailboxes = Array.from({ length: shards }, emptyMailbox);
    this.#markers = Array.from({ length: shards }, () => []);
  }

  add(shard: number, message: AddressedMessage, key: string | null = null): void {
    this.#mailboxes[shard]!.waiting.push({ id: ++this.#ids, key, message });
    this.#mark(shard);
  }

  /** Reserves the key of an envelope for a later time; false when the mailbox has such an envelope already. */
  reserve(shard: number, key: string): boolean {
    const { keys } = this.#mailboxes[shard]!;
    if (keys.has(key)) return false;
    keys.add(key);
    return true;
  }

  /** Adds an envelope that is due now, unless Redis was emptied since its key was reserved. */
  addDue(shard: number, message: AddressedMessage, key: string): void {
    if (this.#mailboxes[shard]!.keys.has(key)) this.add(shard, message, key);
  }

  fetch(shard: number): Envelope | undefined {
    const { waiting, active } = this.#mailboxes[shard]!;
    const envelope = waiting.shift();
    if (envelope !== undefined) active.set(envelope.id, envelope);
    return envelope;
  }

  complete(shard: number, id: number): void {
    const { active, keys } = this.#mailboxes[shard]!;
    const envelope = active.get(id);
    if (envelope === undefined) return;
    active.delete(id);
    if (envelope.key !== null) keys.delete(envelope.key);
  }

  activeIds(shard: number): readonly number[] {
    return [...this.#mailboxes[shard]!.active.keys()];
  }

  /** Returns active envelopes to the mailbox; the first one of `ids` is fetched first. */
  returnToMailbox(shard: number, ids: readonly number[]): void {
    const mailbox = this.#mailboxes[shard]!;
    const returned = ids.flatMap((id) => mailbox.active.get(id) ?? []);
    for (const { id } of returned) mailbox.active.delete(id);
    mailbox.waiting.unshift(...returned);
    if (returned.length > 0) this.#mark(shard);
  }

  /** Calls `wake` once when an envelope waits. */
  onMarker(shard: number, wake: () => void): void {
    if (this.#mailboxes[shard]!.waiting.length > 0) wake();
    else this.#markers[shard]!.push(wake);
  }

  isEmpty(shard: number): boolean {
    const { waiting, active } = this.#mailboxes[shard]!;
    return waiting.length + active.size === 0;
  }

  empty(): void {
    for (const shard of this.#mailboxes.keys()) this.#mailboxes[shard] = emptyMailbox();
  }

  #mark(shard: number): void {
    for (const wake of this.#markers[shard]!.splice(0)) wake();
  }
}

function emptyMailbox(): Mailbox {
  return { waiting: [], active: new Map(), keys: new Set() };
}
