/**
 * Envelopes, the content of a mailbox: one BullMQ job carries one envelope, with one or more messages for roots of its
 * shard.
 */

/** Schema of an envelope without messages, which every node reads. */
export const ENVELOPE_SCHEMA = 1;

/**
 * A message with the actor to which it goes. `to` null is a doorbell: look into the store for the work of this root.
 */
export interface AddressedMessage {
  readonly rootId: string;
  readonly to: { readonly kind: string; readonly id: string } | null;
  /** JSON, which the queues do not read. */
  readonly message: unknown;
}

export interface Envelope {
  /** The schema in which the messages were written. */
  readonly schema: number;
  /** The messages. The name `letters` is part of the format between nodes, so it stays. */
  readonly letters: readonly AddressedMessage[];
}

/**
 * How the shape of messages changes from one release to the next. The queues know only the schema, not the messages.
 */
export interface MessageFormat {
  /** The newest schema that this node reads. */
  readonly schema: number;
  /** The schema to write now, which every live node reads. */
  writes(): number;
  /** Turns a message of an envelope of `schema` into the shape that this program uses. */
  read(message: AddressedMessage, schema: number): AddressedMessage;
  /** Turns a message of this program into the shape of `schema`. */
  write(message: AddressedMessage, schema: number): AddressedMessage;
}

/** Messages are sent and read as they are. */
export const UNVERSIONED_FORMAT: MessageFormat = {
  schema: ENVELOPE_SCHEMA,
  writes: () => ENVELOPE_SCHEMA,
  read: (message) => message,
  write: (message) => message,
};
