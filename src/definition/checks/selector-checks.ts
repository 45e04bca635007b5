/** Checks of label expressions beyond their shape: each has as many values as its operator takes. */
import type { LabelOperator } from "../../domain/labels.ts";
import { labelExpressionSchema } from "../schema/job.ts";
import type { Path, Source } from "../text/source.ts";

/** Reports wrong numbers of values. `expressions` may have any shape; items of a wrong shape are skipped. */
export function checkLabelExpressions(source: Source, expressions: unknown, path: Path): void {
  if (!Array.isArray(expressions)) return;
  for (const [index, expression] of expressions.entries()) {
    const { data } = labelExpressionSchema.safeParse(expression);
    const problem = data === undefined ? undefined : findProblem(data.operator, data.values ?? []);
    const at = [...path, index, ...(data?.values === undefined ? [] : ["values"])];
    if (problem !== undefined) source.report("invalid-selector", at, problem);
  }
}

function findProblem(operator: LabelOperator, values: readonly string[]): string | undefined {
  switch (operator) {
    case "In":
    case "NotIn":
      return values.length === 0 ? `\`${operator}\` needs at least one value` : undefined;
    case "Exists":
    case "NotExists":
      return values.length > 0 ? `\`${operator}\` takes no values` : undefined;
    case "Gt":
    case "Lt":
      return values.length === 1 && /^-?\d+$/.test(values[0]!) ? undefined : `\`${operator}\` needs one whole number`;
  }
}
