/** Takes the test cases of steps that agents hold. */
import { MillraceError } from "../../domain/errors.ts";
import type { AgentId } from "../../domain/ids.ts";
import { TEST_BOUNDS, type TestCase } from "../../domain/notes.ts";
import { requireHeldStep, type StepGrant } from "../held-step.ts";
import type { IngestContext } from "./context.ts";

export interface CasesRequest extends StepGrant {
  readonly part: number;
  readonly cases: readonly TestCase[];
}

/**
 * False when the run has no room. Safe to repeat. Throws `conflict` when the agent does not hold the step, or when the step
 * declares no test reports.
 */
export async function takeTestCases(
  context: IngestContext,
  agentId: AgentId,
  { part, cases, ...grant }: CasesRequest,
): Promise<boolean> {
  const { runId, step } = await requireHeldStep(context, agentId, grant);
  const spec = await context.stores.plans.loadJob(runId, step.jobIndex);
  if (spec?.steps[step.index]?.junit === undefined) {
    throw new MillraceError("conflict", `step run ${grant.stepRunId} declares no test reports`);
  }
  const note = { runId, kind: "cases", ...grant, part, body: JSON.stringify(cases) } as const;
  return (await context.stores.notes.put(note, TEST_BOUNDS.runBytes)) === "stored";
}
