/** Approvals and groups as a plan holds them: with all values that are known when a run is planned. Pure. */
import type { ParsedTexts } from "../definition/text/parsed-texts.ts";
import type { RawApproval, RawConcurrency } from "../definition/schema/pipeline.ts";
import { parseDuration } from "../domain/durations.ts";
import type { PlannedApproval, PlannedGroup } from "../domain/plan.ts";
import type { Role } from "../domain/roles.ts";
import { groupNameOf } from "../domain/groups.ts";
import { type WorkBudget, WorkUsedUp } from "../domain/work/work-budget.ts";
import type { PartialScope, Scope } from "../expressions/context-data.ts";
import { foldTemplate } from "../expressions/fold.ts";
import { evaluateTemplate } from "../expressions/template.ts";

/** The roles that may approve when the definition names no users and no roles: those that may operate the project. */
const OPERATORS: readonly Role[] = ["owner", "admin", "maintainer", "operator"];
const DEFAULT_TIMEOUT = "7d";
const DEFAULT_LIMIT = 1;

/** The approval that a run of a fork needs before it begins. `message` is for approvers. */
export function approvalOfFork(message: string): PlannedApproval {
  return {
    required: [],
    count: 1,
    users: [],
    roles: OPERATORS,
    timeoutMs: parseDuration(DEFAULT_TIMEOUT)!,
    preventSelf: false,
    message,
  };
}

/** The planned form of an approval; null for none. `scope` knows all contexts except `jobs`. */
export function planApproval(
  raw: RawApproval | null,
  scope: PartialScope,
  parsed: ParsedTexts,
  budget: WorkBudget,
): PlannedApproval | null {
  if (raw === null) return null;
  const required = [...new Set(raw.requiredApprovers)];
  return {
    required,
    count: raw.count ?? Math.max(1, required.length),
    users: raw.allowed?.users ?? [],
    roles: raw.allowed === undefined ? OPERATORS : (raw.allowed.roles ?? []),
    timeoutMs: parseDuration(raw.timeout ?? DEFAULT_TIMEOUT)!,
    preventSelf: raw.preventSelfApproval ?? false,
    message: foldTemplate(parsed.template(raw.message ?? ""), scope, budget),
  };
}

/** As {@link planGroup}, for the group of a run, whose name is final; a message when the name has a problem. */
export function planRunGroup(
  raw: RawConcurrency | null,
  scope: Scope,
  parsed: ParsedTexts,
  definedBy: string,
  budget: WorkBudget,
): PlannedGroup | string | null {
  if (raw === null) return null;
  let value: unknown;
  try {
    value = evaluateTemplate(parsed.template(raw.group), scope, undefined, budget);
  } catch (error) {
    if (error instanceof WorkUsedUp) throw error;
    return `this expression cannot be evaluated: ${error instanceof Error ? error.message : String(error)}`;
  }
  const name = groupNameOf(value);
  if (name === undefined) return "the name of a group must have 1 to 200 characters";
  return { ...settingsOf(raw, definedBy), name };
}

/**
 * The planned form of a `concurrency` block; null for none. `definedBy` is the revision. `scope` knows all contexts except `jobs`,
 * and except `matrix` for a job with deferred cells.
 */
export function planGroup(
  raw: RawConcurrency | null,
  scope: PartialScope,
  parsed: ParsedTexts,
  definedBy: string,
  budget: WorkBudget,
): PlannedGroup | null {
  if (raw === null) return null;
  return { ...settingsOf(raw, definedBy), name: foldTemplate(parsed.template(raw.group), scope, budget) };
}

function settingsOf({ limit, onConflict }: RawConcurrency, definedBy: string): Omit<PlannedGroup, "name"> {
  return { limit: limit ?? DEFAULT_LIMIT, definedBy, onConflict: onConflict ?? "queue" };
}
