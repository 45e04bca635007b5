/** A difference between two records that must agree, as verification reports it. */

export const DIFFERENCE_KINDS = [
  /** Parts of one snapshot contradict each other. */
  "snapshot",
  /** A look-up, or a copy that queries read, is not what the snapshot says. */
  "look-up",
  /** Events of a run are missing, or there are more than the run has published. */
  "events",
  /** An aggregate owes effects, or has a timer, that its owner should have dealt with. */
  "owed",
  /** A record belongs to nothing that is stored. */
  "orphan",
  /** The board of offers and the jobs differ. */
  "offer",
  /** Places in quotas and the jobs differ. */
  "place",
  /** A shard, its epoch or its owner is wrong. */
  "shard",
] as const;
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number];

export interface Difference {
  readonly kind: DifferenceKind;
  /** The id of the run, group, job, step or record. */
  readonly object: string;
  readonly text: string;
}
