/** Whether a stage, a job or a step runs, once what is before it has ended. Pure. */
import { CONTEXTS } from "../definition/expression-places.ts";
import type { PlannedCondition } from "../domain/plan.ts";
import { type Condition, evaluateCondition, parseCondition } from "../expressions/condition.ts";
import { type Json, toScope } from "../expressions/context-data.ts";
import type { Status } from "../expressions/functions.ts";

/**
 * `open`: it runs. `condition`: its condition is false. `upstream_failed`: it does not run since something before it
 * failed. `condition_failed`: the condition cannot be evaluated.
 */
export type Gate = "open" | "condition" | "upstream_failed" | "condition_failed";

/** What a condition that was planned reads, by context, for the names that it names. */
export type Facts = (context: string, name: string) => Json;

/** Conditions are the same for all cells of a matrix and for all runs of a revision. */
const REMEMBERED = 1_000;
const remembered = new Map<string, Condition>();

export function decideGate(when: PlannedCondition | null, facts: Facts, status: Status): Gate {
  if (when === null) return status.success ? "open" : "upstream_failed";
  const condition = parse(when.folded);
  try {
    if (evaluateCondition(condition, toScope(factsOf(condition, facts)), status)) return "open";
  } catch {
    return "condition_failed";
  }
  return status.success ? "condition" : "upstream_failed";
}

function factsOf({ references }: Condition, facts: Facts): Readonly<Record<string, Json>> {
  const contexts: Record<string, Record<string, Json>> = {};
  for (const { context, field } of references) {
    if (field !== null) (contexts[context] ??= {})[field] = facts(context, field);
  }
  return contexts;
}

function parse(folded: string): Condition {
  let condition = remembered.get(folded);
  if (condition === undefined) {
    // What was folded into it may be long; the plan is bounded as a whole.
    condition = parseCondition(folded, CONTEXTS, { maxChars: Infinity, maxSteps: Infinity });
    if (remembered.size >= REMEMBERED) remembered.clear();
    remembered.set(folded, condition);
  }
  return condition;
}
