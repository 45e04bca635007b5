/** The exit statuses of the program. */
export const EXIT = {
  ok: 0,
  failure: 1,
  /** An unknown command, option or value. */
  usage: 2,
  /** Ended by Ctrl-C; the number that shells use. */
  interrupted: 130,
} as const;
