/** The steps of a run that have notes of one kind, in the order of the plan. */
import { z } from "zod";
import { jobName } from "../../../actors/job/state.ts";
import { MillraceError } from "../../domain/errors.ts";
import { asId, type JobRunId, type RunId, type StepRunId } from "../../domain/ids.ts";
import { stepName } from "../../../actors/job/step-name.ts";
import type { NoteKey, NoteKind } from "../../stores/ports/outputs.ts";
import type { Caller } from "../identity/access.ts";
import { count } from "../lists.ts";
import { loopShare } from "../loop-share.ts";
import { noPlan, noRun } from "../lookups.ts";
import { reachRun } from "../reaching.ts";
import { statesByKind } from "../runs/run-view.ts";
import { inPlanOrder } from "../runs/step-run-view.ts";
import { id, shape, wholeNumber } from "../shapes.ts";
import { noStepRun } from "../step-runs.ts";
import type { NotesContext } from "./context.ts";

/** A step run as a list of notes names it. */
export const NotedStepShape = shape("NotedStep", () => ({
  stepRunId: id<StepRunId>(),
  jobId: id<JobRunId>(),
  /** The names of job and step. */
  job: z.string(),
  step: z.string(),
  attempt: wholeNumber,
}));

export type NotedStep = z.infer<typeof NotedStepShape>;

/** `attempts`: the newest attempts only, or all. `after`: `next` of the page before. */
export const notesQueryFields = (most: number, byDefault: number) => ({
  stepRunId: z.string().min(1).max(128).optional(),
  attempts: z.enum(["latest", "all"]).default("latest"),
  after: z.string().min(1).max(128).optional(),
  limit: count(most).default(byDefault),
});

export interface NotesRequest {
  readonly runId: RunId;
  readonly stepRunId?: string | undefined;
  readonly attempts: "latest" | "all";
}

export interface StepWithNote {
  readonly step: NotedStep;
  readonly keys: readonly NoteKey[];
}

/**
 * The steps whose grant has notes of this kind. A reused step has none: its notes are with the run that ran it. Throws
 * `forbidden` and `not_found`.
 */
export async function stepsWithNotes(
  context: NotesContext,
  caller: Caller,
  kind: NoteKind,
  { runId, stepRunId, attempts }: NotesRequest,
): Promise<readonly StepWithNote[]> {
  await reachRun(context, caller, "readLogs", runId);
  const keys = new Map<string, NoteKey[]>();
  for (const { bytes: _bytes, ...key } of await context.stores.notes.placesOf(runId, kind)) {
    const name = keyOf(key.stepRunId, key.token);
    keys.set(name, [...(keys.get(name) ?? []), key]);
  }
  if (stepRunId !== undefined) await requireStep(context, runId, asId<StepRunId>(stepRunId));
  if (keys.size === 0) return [];
  const aggregate = await context.stores.aggregates.loadInPieces(runId, () => loopShare.enter());
  if (aggregate === undefined) throw noRun(runId, undefined);
  const plan = await context.stores.plans.loadPlan(runId);
  if (plan === undefined) throw noPlan(runId);
  const { jobs, steps } = statesByKind(aggregate);
  const isAll = attempts === "all" || stepRunId !== undefined;
  return inPlanOrder(jobs, steps, isAll).flatMap(({ step, job }) => {
    const found = step.grant === null ? undefined : keys.get(keyOf(step.stepRunId, step.grant.token));
    if (found === undefined || step.reusedFrom !== null || step.stepRunId !== (stepRunId ?? step.stepRunId)) return [];
    const planned = plan.jobs[job.index];
    const noted = {
      stepRunId: step.stepRunId,
      jobId: job.jobId,
      job: planned === undefined ? "" : jobName(planned, job),
      step: stepName(planned?.steps[step.index], job.matrix),
      attempt: step.attempt,
    };
    return [{ step: noted, keys: found.toSorted((a, b) => a.part - b.part) }];
  });
}

/** Those behind the step of the cursor. Throws `malformed_request` for a cursor of another list. */
export function behind(steps: readonly StepWithNote[], after: string | undefined): readonly StepWithNote[] {
  if (after === undefined) return steps;
  const at = steps.findIndex(({ step }) => step.stepRunId === after);
  if (at !== -1) return steps.slice(at + 1);
  throw new MillraceError("malformed_request", "`after` must be `next` of an earlier page of the same list");
}

async function requireStep({ stores }: NotesContext, runId: RunId, stepRunId: StepRunId): Promise<void> {
  const location = await stores.aggregates.findStep(stepRunId);
  if (location === undefined || location.runId !== runId) throw noStepRun(stepRunId, runId);
}

function keyOf(stepRunId: StepRunId, token: number): string {
  return `${stepRunId}/${token}`;
}
