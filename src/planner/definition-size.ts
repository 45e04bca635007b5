/**
 * How large the snapshot of a run of a definition may become, before a plan is made: as far as it is known when the
 * definition is saved, and in a dry run. Pure.
 */
import type { DefinedJob, Definition } from "../definition/definition.ts";
import { expandMatrix, knownCells } from "../definition/matrix.ts";
import type { ParsedTexts } from "../definition/text/parsed-texts.ts";
import type { Path } from "../definition/text/source.ts";
import type { Pairs } from "../domain/pairs.ts";
import type { Scalar } from "../domain/plan.ts";
import { toPartialScope, UNKNOWN } from "../expressions/context-data.ts";
import { linkCells } from "./link-cells.ts";
import { PlanBudget } from "./plan-budget.ts";
import type { PlannedCell } from "./plan-cells.ts";
import { planApproval } from "./plan-gates.ts";
import { bytesOfJob, sizedCell, snapshotBytes, snapshotLimitMessage } from "./snapshot-size.ts";

interface TooLarge {
  /** The job that takes the largest part. */
  readonly path: Path;
  /** For people, with the figures. */
  readonly message: string;
}

/**
 * Why the store holds no run of this definition, whatever a trigger gives it; undefined when it may hold one. `limit`: the
 * largest snapshot that the store holds, bytes.
 */
export function findTooLargeForAll(definition: Definition, limit: number): TooLarge | undefined {
  const { parsed } = definition.source;
  const cells = definition.stages.flatMap(({ jobs }, stage) =>
    jobs.flatMap((defined) => leastCells(defined, parsed).map((cell) => ({ defined, stage, ...cell }))),
  );
  return findTooLarge(definition, cells, [], limit, new PlanBudget());
}

/**
 * Why the store holds no run of these cells; undefined when it holds one. `variables`: those of the trigger. `budget`: what
 * evaluating the approvals may cost; throws `WorkUsedUp` beyond it.
 */
export function findTooLarge(
  { stages, source }: Definition,
  cells: readonly PlannedCell[],
  variables: Pairs<Scalar>,
  limit: number,
  budget: PlanBudget,
): TooLarge | undefined {
  const links = linkCells(cells);
  const planned = new Set(cells.map(({ defined }) => defined));
  // All cells of a matrix have one approval.
  const approvals = stages.flatMap(({ approval, jobs }) => [
    approval,
    ...jobs.filter((job) => planned.has(job)).map((job) => job.approval),
  ]);
  const noValues = toPartialScope({ jobs: UNKNOWN });
  const bytes = snapshotBytes(
    cells.map((cell, at) => sizedCell(cell, links[at]!.needs.length)),
    approvals.flatMap((approval) => planApproval(approval, noValues, source.parsed, budget) ?? []),
    variables,
  );
  return bytes > limit ? tooLarge(bytes, limit, cells) : undefined;
}

/** Names the job of these cells that takes the largest part of so many bytes. */
export function tooLarge(bytes: number, limit: number, cells: readonly PlannedCell[]): TooLarge {
  const links = linkCells(cells);
  const parts = new Map<DefinedJob, number>();
  cells.forEach((cell, at) => {
    const part = bytesOfJob(sizedCell(cell, links[at]!.needs.length));
    parts.set(cell.defined, (parts.get(cell.defined) ?? 0) + part);
  });
  const [largest] = [...parts].toSorted(([, a], [, b]) => b - a);
  const message = snapshotLimitMessage(bytes, limit);
  if (largest === undefined) return { path: [], message };
  const [{ name, path }, part] = largest;
  return { path, message: `${message}; the job ${JSON.stringify(name)} takes the largest part, ${part} bytes` };
}

/** The cells that a job has in every run: an axis that a trigger may change has at least one value. */
function leastCells({ matrix }: DefinedJob, parsed: ParsedTexts): readonly Pick<PlannedCell, "matrix" | "cellsFrom">[] {
  if (matrix === null) return [{ matrix: [], cellsFrom: null }];
  const deferred = matrix.axes.find(
    ([, values]) =>
      typeof values === "string" && parsed.template(values).references.some(({ context }) => context === "jobs"),
  );
  if (deferred !== undefined) return [{ matrix: [], cellsFrom: deferred[1] as string }];
  const known = knownCells(matrix);
  // What `exclude` removes depends on the values.
  if (known === undefined && matrix.exclude.length > 0) return [];
  const axes = matrix.axes.map(([name, values]) => [name, typeof values === "string" ? [""] : values] as const);
  return expandMatrix(known ?? { axes, include: [], exclude: [] }).map((cell) => ({ matrix: cell, cellsFrom: null }));
}
