/** Decides whether a stage, a job or a step runs, when everything before it has ended. Pure. */
import { CONTEXTS } from "../definition/text/expression-places.ts";
import type { PlannedCondition } from "../domain/plan.ts";
import type { Reference } from "../expressions/template.ts";
import { type Condition, evaluateCondition, parseCondition } from "../expressions/condition.ts";
import { type Json, toScope } from "../expressions/context-data.ts";
import { MissingOutputs } from "../domain/outputs.ts";
import type { Status } from "../expressions/functions.ts";

/**
 * The decision about a stage, a job or a step. `open`: it runs. `condition`: its condition is false. `upstream_failed`: it does
 * not run because something before it failed. `condition_failed`: its condition cannot be evaluated.
 */
export type Gate = "open" | "condition" | "upstream_failed" | "condition_failed";

/**
 * Answers what expressions read of a job or a step that has ended, by context and name: its result alone, or its outputs too. For
 * the context `matrix`, which has no names, it answers the cell. Throws `MissingOutputs`.
 */
export type Facts = (context: string, name: string, part: "all" | "result") => Json;

/** Parsed conditions are kept, since all cells of a matrix and all runs of a revision have the same ones. */
const MAX_KEPT_CONDITIONS = 1_000;
const keptConditions = new Map<string, Condition>();

/** `when` is null for no condition, which means `success()`. Throws `MissingOutputs`. */
export function decideGate(when: PlannedCondition | null, facts: Facts, status: Status): Gate {
  if (when === null) return status.success ? "open" : "upstream_failed";
  const condition = parse(when.folded);
  try {
    if (evaluateCondition(condition, toScope(factsOf(when.folded, condition.references, facts)), status)) return "open";
  } catch (error) {
    if (error instanceof MissingOutputs) throw error;
    return "condition_failed";
  }
  return status.success ? "condition" : "upstream_failed";
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
