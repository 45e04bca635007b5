/** From the jobs of a definition to the jobs of a run: one for each cell of a matrix, if its axes are known before the run. */
import type { DefinedJob, Definition } from "../definition/definition.ts";
import type { DiagnosticCode } from "../definition/text/diagnostics.ts";
import { CONTEXTS } from "../definition/text/expression-places.ts";
import { LIMITS } from "../definition/schema/limits.ts";
import { type Cells, countCells, expandMatrix, knownCells, type Matrix } from "../definition/matrix.ts";
import type { Path } from "../definition/text/source.ts";
import type { Pairs } from "../domain/pairs.ts";
import { cellName, type Scalar } from "../domain/plan.ts";
import { WorkUsedUp } from "../domain/work/work-budget.ts";
import { type PartialJson, type Scope, UNKNOWN } from "../expressions/context-data.ts";
import { evaluateTemplate, parseTemplate } from "../expressions/template.ts";
import { toAxis } from "./axis.ts";
import type { PlanBudget } from "./plan-budget.ts";

export interface PlannedCell {
  readonly defined: DefinedJob;
  /** Position in the definition. */
  readonly stage: number;
  readonly matrix: Pairs<Scalar>;
  /**
   * The expression of a deferred axis, which is known once the jobs that it reads have ended: this entry then stands for all cells.
   * Null when the cells are known.
   */
  readonly cellsFrom: string | null;
}

/** The `matrix` context of a cell; unknown when the cells are deferred. */
export function matrixOf({ matrix, cellsFrom }: PlannedCell): PartialJson {
  return cellsFrom === null ? Object.fromEntries(matrix) : UNKNOWN;
}

type Refuse = (code: DiagnosticCode, path: Path, message: string) => void;

/**
 * The jobs of a run in the order of the definition. A problem of a matrix goes to `refuse`, and its job is left out. Throws
 * `WorkUsedUp`.
 */
export function planCells(
  definition: Definition,
  scope: Scope,
  budget: PlanBudget,
  refuse: Refuse,
): readonly PlannedCell[] {
  const cells: PlannedCell[] = [];
  const names = new Set<string>();
  let steps = 0;
  for (const [stage, { jobs }] of definition.stages.entries()) {
    for (const defined of jobs) {
      for (const cell of cellsOf(defined, scope, budget, refuse)) {
        const name = cellName(defined.name, cell.matrix);
        if (names.has(name))
          refuse("duplicate-name", [...defined.path, "matrix"], `two jobs would have the name "${name}"`);
        names.add(name);
        steps += defined.steps.length;
        cells.push({ defined, stage, ...cell });
      }
      // The remaining jobs of a run that is too large are never made.
      if (steps <= LIMITS.steps) continue;
      refuse(
        "step-limit",
        defined.path,
        `a run may have ${LIMITS.steps} steps; with the cells of this job it has more`,
      );
      return cells;
    }
  }
  return cells;
}

function cellsOf(
  { matrix, path }: DefinedJob,
  scope: Scope,
  budget: PlanBudget,
  refuse: Refuse,
): readonly Pick<PlannedCell, "matrix" | "cellsFrom">[] {
  if (matrix === null) return [{ matrix: [], cellsFrom: null }];
  const known = knownCells(matrix) ?? evaluateAxes(matrix, [...path, "matrix", "axes"], scope, budget, refuse);
  if (known === undefined) return [];
  if (typeof known === "string") return [{ matrix: [], cellsFrom: known }];
  const count = countCells(known);
  if (count > LIMITS.matrixCells) {
    refuse("matrix-limit", [...path, "matrix"], `a matrix may have ${LIMITS.matrixCells} cells; this one has ${count}`);
    return [];
  }
  return expandMatrix(known).map((cell) => ({ matrix: cell, cellsFrom: null }));
}

/** The matrix with its axes as lists; the expression of the first deferred axis; undefined when an axis has a problem. */
function evaluateAxes(
  matrix: Matrix,
  path: Path,
  scope: Scope,
  budget: PlanBudget,
  refuse: Refuse,
): Cells | string | undefined {
  const axes: [string, readonly Scalar[]][] = [];
  for (const [name, written] of matrix.axes) {
    if (typeof written !== "string") {
      axes.push([name, written]);
      continue;
    }
    const template = parseTemplate(written, CONTEXTS);
    if (template.references.some(({ context }) => context === "jobs")) return written.trim();
    const values = evaluateAxis(() =>
      evaluateTemplate(template, scope, undefined, budget.at([...path, name], written)),
    );
    if ("code" in values) {
      refuse(values.code, [...path, name], values.message);
      return undefined;
    }
    axes.push([name, values]);
  }
  return { axes, include: matrix.include, exclude: matrix.exclude };
}

interface AxisProblem {
  readonly code: DiagnosticCode;
  readonly message: string;
}

function evaluateAxis(evaluate: () => unknown): readonly Scalar[] | AxisProblem {
  try {
    const axis = toAxis(evaluate());
    return typeof axis === "string" ? { code: "invalid-matrix", message: axis } : axis;
  } catch (error) {
    if (error instanceof WorkUsedUp) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    return { code: "evaluation-failed", message: `this expression cannot be evaluated: ${reason}` };
  }
}
