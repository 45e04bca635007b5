/** Bounds of a definition, in one place. */
export const LIMITS = {
  /** Bytes of text. */
  textBytes: 1_048_576,
  /** Maps and lists within one another. */
  depth: 32,
  /** Uses of anchors. */
  aliases: 100,
  /** Cells of one matrix. */
  matrixCells: 1_024,
  /** Steps of a run, with every cell of every matrix. */
  steps: 5_000,
} as const;
