/** How much of a disk must stay free: the lesser of the two amounts. */
export interface DiskFloor {
  readonly bytes: number;
  /** Percent of the size of the disk, 0 to 100. */
  readonly percent: number;
}
