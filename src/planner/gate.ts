/** Decides whether a stage, a job or a step runs, when everything before it has ended. Pure. */
import { CONTEXTS } from "../definition/text/expression-places.ts";
import type { PlannedCondition } from "../domain/plan.ts";
import { type WorkBudget, WorkUsedUp } from "../domain/work/work-budget.ts";
import type { Reference } from "../expressions/template.ts";
import { type Condition, evaluateCondition, parseCondition } from "../expressions/condition.ts";
import { type Json, toScope } from "../expressions/context-data.ts";
import { MissingOutputs } from "../domain/outputs.ts";
import { functionsIn } from "../expressions/expression.ts";
import { isStatusFunction, type Status } from "../expressions/functions.ts";

/**
 * The decision about a stage, a job or a step. `open`: it runs. `condition`: its condition is false. `upstream_failed`: it does
 * not run because something before it failed. `condition_failed`: its condition cannot be evaluated. `expression_limit`: the
 * budget of work was used up before its condition was evaluated.
 */
export type Gate = "open" | "condition" | "upstream_failed" | "condition_failed" | "expression_limit";

/**
 * Answers what expressions read of a job or a step that has ended, by context and name: its result alone, or its outputs too. For
 * the context `matrix`, which has no names, it answers the cell. Throws `MissingOutputs`, and `WorkUsedUp`.
 */
export interface Facts {
  (context: string, name: string, part: "all" | "result"): Json;
  /** Is charged for the expressions that read these facts. Absent: no bound. */
  readonly budget?: WorkBudget | undefined;
  /** The run or the job whose expressions read these facts. */
  readonly owner?: string;
}

/**
 * Evaluates `text` under the budget of `facts`, once for each decision. `variant`: what its value depends on besides the facts.
 * Throws `WorkUsedUp`.
 */
export function withinBudget<T>({ budget, owner = "" }: Facts, variant: string, text: string, evaluate: () => T): T {
  return budget === undefined ? evaluate() : budget.once(`${owner} ${variant}`, text, evaluate);
}

/** Parsed conditions are kept, since all cells of a matrix and all runs of a revision have the same ones. */
const MAX_KEPT_CONDITIONS = 1_000;
const keptConditions = new Map<string, Condition>();

/** `when` is null for no condition, which means `success()`. Throws `MissingOutputs`. */
export function decideGate(when: PlannedCondition | null, facts: Facts, status: Status): Gate {
  if (when === null) return status.success ? "open" : "upstream_failed";
  try {
    const holds = withinBudget(facts, variantOf(when.folded, status), when.folded, () => {
      const condition = parse(when.folded);
      const scope = toScope(factsOf(when.folded, condition.references, facts));
      return evaluateCondition(condition, scope, status, facts.budget);
    });
    if (holds) return "open";
  } catch (error) {
    if (error instanceof MissingOutputs) throw error;
    if (error instanceof WorkUsedUp) return "expression_limit";
    return "condition_failed";
  }
  return status.success ? "condition" : "upstream_failed";
}

/**
 * True for a condition that asks for a failure, a cancellation or anything: when it does not hold, it is the condition that decides,
 * and not that something before it failed.
 */
export function asksBeyondSuccess(when: PlannedCondition | null): boolean {
  const tree = when === null ? null : parse(when.folded).tree;
  return tree !== null && functionsIn(tree).some((name) => isStatusFunction(name) && name !== "success");
}

/** Which status a condition sees. Whether a need was cancelled is read only for a condition that asks. */
function variantOf(folded: string, status: Status): string {
  return `${status.success} ${status.failure} ${/cancelled/i.test(folded) && status.cancelled}`;
}

/** The values of the contexts `jobs`, `steps` and `matrix` that these references in `text` read. Throws `MissingOutputs`. */
export function factsOf(text: string, references: readonly Reference[], facts: Facts): Readonly<Record<string, Json>> {
  const contexts: Record<string, Record<string, Json>> = { jobs: {}, steps: {} };
  for (const { context, field, offset, length } of references) {
    // The cell is small, so it is read as a whole.
    if (context === "matrix") contexts[context] ??= facts(context, "", "all") as Record<string, Json>;
    const found = context === "matrix" ? undefined : contexts[context];
    if (found === undefined || field === null) continue;
    // Outputs have to be fetched, so they are read only for a reference that needs more than the result.
    const readsResult = /^\s*(?:\.\s*result\b|\[\s*'result'\s*\])/.test(text.slice(offset + length));
    if (!readsResult || found[field] === undefined)
      found[field] = facts(context, field, readsResult ? "result" : "all");
  }
  return contexts;
}

function parse(folded: string): Condition {
  let condition = keptConditions.get(folded);
  if (condition === undefined) {
    // The values in a folded condition may make it long; the plan as a whole has a bound.
    condition = parseCondition(folded, CONTEXTS, { maxChars: Infinity, maxSteps: Infinity });
    if (keptConditions.size >= MAX_KEPT_CONDITIONS) keptConditions.clear();
    keptConditions.set(folded, condition);
  }
  return condition;
}
