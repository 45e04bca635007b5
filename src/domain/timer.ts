/** A timer that an actor has set; only a fired timer of the same generation counts. */
export interface Timer {
  readonly generation: number;
  /** Unix milliseconds. */
  readonly dueAt: number;
}
