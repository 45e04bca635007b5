/** Attempts of jobs and steps, as users count them. */

export interface Attempt {
  /** From 1, within the run. */
  readonly attempt: number;
  /** Number of attempts in the earlier runs that this run repeats. */
  readonly attemptsBefore: number;
}

/** The number that users see: it counts the attempts in earlier runs too. */
export function shownAttempt({ attempt, attemptsBefore }: Attempt): number {
  return attemptsBefore + attempt;
}
