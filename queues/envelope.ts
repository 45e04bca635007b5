/** Envelopes: what lies in a mailbox. One BullMQ job carries one envelope with one or more letters for roots of its shard. */

/** Of envelopes without letters, which every node reads. */
export const ENVELOPE_SCHEMA = 1;

/** A message on its way to an actor. `to` null is a doorbell alone: look at what the store holds for this root. */
export interface AddressedMessage {
  readonly rootId: string;
  readonly to: { readonly kind: string; readonly id: string } | null;
  /** JSON; the queues do not look into it. */
  readonly message: unknown;
}

export interface Envelope {
  /** The one that the letters were written with. */
  readonly schema: number;
  readonly letters: readonly AddressedMessage[];
}

/** How letters change shape from one release to the next; the queues know no letter, only its schema. */
export interface MessageFormat {
  /** The newest schema that is read. */
  readonly schema: number;
  /** The schema to write now: one that every node reads. */
  writes(): number;
  /** A letter of an envelope of `schema`, as this program works with it; and the reverse. */
  read(letter: AddressedMessage, schema: number): AddressedMessage;
  write(letter: AddressedMessage, schema: number): AddressedMessage;
}

/** Letters that have never changed shape. */
export const UNVERSIONED_FORMAT: MessageFormat = {
  schema: ENVELOPE_SCHEMA,
  writes: () => ENVELOPE_SCHEMA,
  read: (letter) => letter,
  write: (letter) => letter,
};
