/** Envelopes: what lies in a mailbox. One BullMQ job carries one envelope with one or more letters for roots of its shard. */

export const ENVELOPE_SCHEMA = 1;

/** A message on its way to an actor. `to` null is a doorbell alone: look at what the store holds for this root. */
export interface Letter {
  readonly rootId: string;
  readonly to: { readonly kind: string; readonly id: string } | null;
  /** JSON; the queues do not look into it. */
  readonly message: unknown;
}

export interface Envelope {
  readonly schema: number;
  readonly letters: readonly Letter[];
}
