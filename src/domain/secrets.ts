/** Bounds on the names and values of secrets. */

/** The name of a secret or of a variable. */
export const VARIABLE_NAME = /^[A-Za-z_]\w{0,127}$/;

export const SECRET_BOUNDS = {
  /** Greatest size of a value, in UTF-8. */
  bytes: 65_536,
  /**
   * Least number of characters of a trimmed value. A shorter one would be masked in log lines that contain it by
   * chance.
   */
  leastChars: 4,
} as const;
