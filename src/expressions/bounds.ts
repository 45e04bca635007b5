/** The bounds on expressions: on their size in a definition, and on the work and the result of an evaluation. */

/** Characters between `${{` and `}}`, or of a condition. */
export const MAX_EXPRESSION_CHARS = 4_096;

/** Nodes of an expression's tree: values, names, operators and calls. */
export const MAX_EXPRESSION_STEPS = 500;

/** Characters of one resolved text. */
export const MAX_TEXT_CHARS = 1_048_576;

/** Levels of lists and maps in what `fromJSON` reads. */
export const MAX_JSON_DEPTH = 100;

/** What one evaluation may read and make, in characters. */
export const MAX_EVALUATION_WORK = 16_777_216;

/** How many characters an item of a list or map counts for. */
export const ITEM_WORK = 16;
