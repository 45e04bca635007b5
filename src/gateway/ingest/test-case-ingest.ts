/** Takes the test cases of steps that agents hold. */
import { MillraceError } from "../../domain/errors.ts";
import type { AgentId } from "../../domain/ids.ts";
import { TEST_BOUNDS, type TestCase } from "../../domain/notes/notes.ts";
import { requireHeldStep, type StepGrant } from "../held-step.ts";
import type { IngestContext } from "./context.ts";

export interface CasesRequest extends StepGrant {
  readonly part: number;
  readonly cases: readonly TestCase[];
}

/**
 * False when the run has no room. Safe to repeat. Throws `conflict` when the agent does not hold the step, or when the step
 * declares no test reports, and `malformed_request` for a part that is too large.
 */
export async function takeTestCases(
  context: IngestContext,
  agentId: AgentId,
  { part, cases, ...grant }: CasesRequest,
): Promise<boolean> {
  const body = JSON.stringify(cases);
  const bytes = Buffer.byteLength(body);
  if (bytes > TEST_BOUNDS.partBytes) {
    const bound = `a part may have ${TEST_BOUNDS.partBytes} bytes as JSON, and part ${part} has ${bytes}: send fewer cases`;
    throw new MillraceError("malformed_request", bound);
  }
  const { runId, step } = await requireHeldStep(context, agentId, grant);
  const spec = await context.stores.plans.loadJob(runId, step.jobIndex);
  if (spec?.steps[step.index]?.junit === undefined) {
    throw new MillraceError("conflict", `step run ${grant.stepRunId} declares no test reports`);
  }
  const note = { runId, kind: "cases", ...grant, part, body } as const;
  return (await context.stores.notes.put(note, TEST_BOUNDS.runBytes)) === "stored";
}
