/** What the program's exit status says. */
export const EXIT = {
  ok: 0,
  failure: 1,
  /** An unknown command, option or value. */
  usage: 2,
  /** Ended by Ctrl-C, as shells number it. */
  interrupted: 130,
} as const;
