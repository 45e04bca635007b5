/** What of a disk is to stay free: the lesser of the two. */
export interface DiskFloor {
  readonly bytes: number;
  /** Of all of it, 0 to 100. */
  readonly percent: number;
}
