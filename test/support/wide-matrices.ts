/** Definitions with the widest matrices, of which four cells run at once. */

/** 32 values on each of two axes: 1,024 cells, the most that a matrix may have. */
const SIDE = Array.from({ length: 32 }, (_, at) => at);
const STEPS = [{ uses: "shell", args: { script: "true" } }];
const GATES = ["a", "b", "c", "d"];

const matrix = (name: string, needs: readonly string[]) => ({
  name,
  needs,
  matrix: { axes: { x: SIDE, y: SIDE }, maxParallel: 4 },
  steps: STEPS,
});

/** The number of cells of one matrix. */
export const CELLS = SIDE.length ** 2;

export const ONE_MATRIX = { jobs: [matrix("alone", [])] };

/** Four jobs need the first matrix, and each cell of the second one needs them. */
export const TWO_MATRICES = {
  jobs: [
    matrix("first", []),
    ...GATES.map((name) => ({ name, needs: ["first"], steps: STEPS })),
    matrix("second", GATES),
  ],
};
