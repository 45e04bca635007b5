/** The exit statuses of the program; docs/cli.md tells users. */
export const EXIT = {
  ok: 0,
  failure: 1,
  /** An unknown command, option or value. */
  usage: 2,
  /** The server does not know the caller: no token, or one that is not good any more. */
  unauthenticated: 3,
  /** The caller's role or scopes are not enough. */
  forbidden: 4,
  /** There is no such object, or the caller may not see it. */
  notFound: 5,
  /** The server cannot be reached or refuses for now; the same command may succeed later. */
  unavailable: 6,
  /** Ended by Ctrl-C; the number that shells use. */
  interrupted: 130,
} as const;
