/** What names may hold. They stand in lists, logs and terminals, and must look like what they are. */

/**
 * For use within the brackets of a regular expression with the flag `u`: control characters, separators of lines, marks that
 * reorder the text around them, and halves of surrogate pairs.
 */
export const NOT_IN_NAMES = "\\p{Cc}\\u2028\\u2029\\u202a-\\u202e\\u2066-\\u2069\\p{Cs}";

/** Matches a text of one line that holds nothing of {@link NOT_IN_NAMES}; also the empty text. */
export const PLAIN_TEXT = new RegExp(`^[^${NOT_IN_NAMES}]*$`, "u");
/** Says what {@link PLAIN_TEXT} asks for. */
export const PLAIN_TEXT_RULE = "must have no control characters, line breaks or marks that reorder text";

/** The name of a secret or of a variable. */
export const VARIABLE_NAME = /^[A-Za-z_]\w{0,127}$/;
