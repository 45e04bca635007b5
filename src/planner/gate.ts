/** Whether a stage, a job or a step runs, once what is before it has ended. Pure. */
import { CONTEXTS } from "../definition/text/expression-places.ts";
import type { PlannedCondition } from "../domain/plan.ts";
import type { Reference } from "../expressions/template.ts";
import { type Condition, evaluateCondition, parseCondition } from "../expressions/condition.ts";
import { type Json, toScope } from "../expressions/context-data.ts";
import { MissingOutputs } from "../domain/outputs.ts";
import type { Status } from "../expressions/functions.ts";

/**
 * `open`: it runs. `condition`: its condition is false. `upstream_failed`: it does not run since something before it
 * failed. `condition_failed`: the condition cannot be evaluated.
 */
export type Gate = "open" | "condition" | "upstream_failed" | "condition_failed";

/** What expressions read of jobs and steps that have ended, by context and name: all of it, or how it ended alone. */
export type Facts = (context: string, name: string, part: "all" | "result") => Json;

/** Conditions are the same for all cells of a matrix and for all runs of a revision. */
const REMEMBERED = 1_000;
const remembered = new Map<string, Condition>();

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

/** The contexts that these references into `text` read. */
export function factsOf(text: string, references: readonly Reference[], facts: Facts): Readonly<Record<string, Json>> {
  const contexts: Record<string, Record<string, Json>> = { jobs: {}, steps: {} };
  for (const { context, field, offset, length } of references) {
    // Small, and read as a whole.
    if (context === "matrix") contexts[context] ??= facts(context, "", "all") as Record<string, Json>;
    const found = context === "matrix" ? undefined : contexts[context];
    if (found === undefined || field === null) continue;
    // Outputs are fetched only for those who read them.
    const readsResult = /^\s*(?:\.\s*result\b|\[\s*'result'\s*\])/.test(text.slice(offset + length));
    if (!readsResult || found[field] === undefined)
      found[field] = facts(context, field, readsResult ? "result" : "all");
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
