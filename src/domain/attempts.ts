/** Attempts as users count them. */

export interface Attempt {
  /** From 1, within its run. */
  readonly attempt: number;
  /** In earlier runs of which this one is a rerun. */
  readonly attemptsBefore: number;
}

/** Over its run and those before it. */
export function shownAttempt({ attempt, attemptsBefore }: Attempt): number {
  return attemptsBefore + attempt;
}
