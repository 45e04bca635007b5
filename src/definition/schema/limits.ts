/** All bounds of a definition. */
import { MAX_EXPRESSION_CHARS, MAX_EXPRESSION_STEPS } from "../../expressions/bounds.ts";

export const LIMITS = {
  /** Bytes of text. */
  textBytes: 1_048_576,
  /** Files that one definition includes, with those that they include. */
  includes: 32,
  /** Files that include one another, from the definition on. */
  includeDepth: 5,
  /** Levels of maps and lists within one another. */
  depth: 32,
  /** Uses of anchors. */
  aliases: 100,
  /** Maps, lists and scalars, with every use of an anchor written out. */
  values: 100_000,
  /** Errors that one validation reports, and as many warnings. */
  diagnostics: 200,
  /** Characters of a name and of a matrix value. */
  nameChars: 200,
  /** Characters of a message or subject. */
  messageChars: 1_000,
  /** Characters of the text of a notification. */
  notificationChars: 10_000,
  /** Items of a list that has no bound of its own here. */
  listItems: 256,
  /** Characters of one expression. */
  expressionChars: MAX_EXPRESSION_CHARS,
  /** Operators, functions and values of one expression. */
  expressionSteps: MAX_EXPRESSION_STEPS,
  /** Attempts of a step or job, the first one included. */
  attempts: 10,
  /** Names in the `needs` of one job. */
  needsOfJob: 1_000,
  /** Fields of a matrix cell. */
  matrixFields: 16,
  /** Entries of `include` and of `exclude`. */
  matrixEntries: 1_024,
  /** Cells of one matrix. */
  matrixCells: 1_024,
  /** Steps of a run, with every cell of every matrix. */
  steps: 5_000,
  /** Pairs of jobs of which one needs the other, with every cell of every matrix. */
  needs: 250_000,
  /** Characters of a run's resolved texts in all. */
  planTextChars: 33_554_432,
  /** Characters of a run's graph (names, matrix values and needs), which every load of the run reads. */
  planGraphChars: 8_388_608,
} as const;
