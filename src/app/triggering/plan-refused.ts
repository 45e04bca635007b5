/** The error for a trigger or a dry run that cannot be planned. */
import { MillraceError } from "../../domain/errors.ts";
import type { PlanRefusal } from "../../planner/plan-run.ts";
import { invalidDefinition } from "../catalogue/required-definition.ts";

/** `invalid_definition`, or `malformed_request` when the variables do not fit the inputs of the definition. */
export function planRefused({ fault, problems }: PlanRefusal): MillraceError {
  if (fault === "definition") return invalidDefinition(problems);
  const message = `the variables do not fit the inputs of the pipeline: ${problems.map((problem) => problem.message).join("; ")}`;
  return new MillraceError("malformed_request", message, { problems });
}
