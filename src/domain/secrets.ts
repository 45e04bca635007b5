/** What a secret may be called and hold. */

/** The name of a secret or of a variable. */
export const VARIABLE_NAME = /^[A-Za-z_]\w{0,127}$/;

export const SECRET_BOUNDS = {
  /** Of a value, in UTF-8. */
  bytes: 65_536,
  /** Characters of a value without the white space around it: what is shorter would be masked wherever it stands by chance. */
  leastChars: 4,
} as const;
