/** Changes a step run that has not been dispatched: a command in the inbox of its run, which its job decides. */
import { z } from "zod";
import type { StepChange, UpdateCommand } from "../../domain/commands.ts";
import { MillraceError } from "../../domain/errors.ts";
import { type JobRunId, newId, type PipelineId, type RunId, type StepRunId } from "../../domain/ids.ts";
import { isActiveStepStatus, STEP_STATUS_CODES, type StepStatus } from "../../domain/status.ts";
import { type Caller, claimedIdentity } from "../identity/access.ts";
import { findRunHead } from "../lookups.ts";
import type { Precondition } from "../preconditions.ts";
import { reachStep } from "../reaching.ts";
import { claimRequest } from "../request-ids.ts";
import type { RunsContext } from "./context.ts";
import { showStepRun } from "./read-step-runs.ts";
import { type StepRunView, stepVersion } from "./step-run-view.ts";
import { id, keyOf, mapOf, shape, wholeNumber } from "../shapes.ts";
import { noStepRun } from "../step-runs.ts";
import { verdictOn } from "../commands/commands.ts";
import type { CommandsContext } from "../commands/context.ts";
import { commandBody } from "../commands/run-commands.ts";

const MAX_PRIORITY = 100;
const MAX_ENTRIES = 32;
const MAX_VALUE = 500;
const METADATA_KEY = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,62}$/;

const { operator, requestId } = commandBody.shape;

export const stepUpdateBody = z.strictObject({
  /** Of the job that the step belongs to: jobs with a larger priority are offered first. */
  priority: z.number().int().min(-MAX_PRIORITY).max(MAX_PRIORITY).optional(),
  /** Replaces all metadata of the step run. */
  metadata: z
    .record(
      z.string().regex(METADATA_KEY, "must be 1 to 63 letters, digits and ._/-, and begin with a letter or a digit"),
      z.string().max(MAX_VALUE),
    )
    .refine((entries) => Object.keys(entries).length <= MAX_ENTRIES, `must have at most ${MAX_ENTRIES} entries`)
    .optional(),
  operator,
  requestId,
});

export const UpdatedStepShape = shape("UpdatedStep", () => ({
  stepRunId: id<StepRunId>(),
  jobId: id<JobRunId>(),
  runId: id<RunId>(),
  status: keyOf(STEP_STATUS_CODES),
  statusCode: wholeNumber,
  priority: z.number().int(),
  metadata: mapOf(z.string()),
}));

type UpdatedStepView = z.infer<typeof UpdatedStepShape>;

type UpdateRequest = z.output<typeof stepUpdateBody> & {
  /** Absent: the change is made on any state. */
  readonly match?: Precondition<StepRunView> | undefined;
  readonly stepRunId: StepRunId;
  /** May be absent: then any run and any pipeline will do. */
  readonly runId?: RunId;
  readonly pipelineId?: PipelineId;
};

type UpdateContext = CommandsContext & RunsContext;

/** A step run with what can be changed of it. Throws `not_found`. */
export async function getUpdatedStep(
  context: RunsContext,
  caller: Caller,
  { stepRunId, runId, pipelineId }: Pick<Required<UpdateRequest>, "stepRunId" | "runId" | "pipelineId">,
): Promise<UpdatedStepView> {
  const { found } = await reachStep(context, caller, "readRuns", stepRunId, () => noStepRun(stepRunId, runId));
  if (found.runId !== runId) throw noStepRun(stepRunId, runId);
  await findRunHead(context, runId, pipelineId);
  return updatedStep(await showStepRun(context, caller, runId, stepRunId));
}

/**
 * Changes the priority and the metadata of a step run before its dispatch; answers the step run after it. Throws `not_found`,
 * `conflict` for a step run that is dispatched or has ended, and for the priority of a job that has an agent,
 * `precondition_failed` for a step run that is not as `match` demands, and `unavailable` when the job has not decided within 5 s: the command is then stored, and safe to repeat with the same `requestId`.
 */
export async function updateStepRun(
  context: UpdateContext,
  caller: Caller,
  {
    stepRunId,
    runId: ofRun,
    pipelineId,
    priority,
    metadata,
    operator: claimed,
    requestId: given,
    match,
  }: UpdateRequest,
): Promise<StepRunView> {
  const missing = () => noStepRun(stepRunId, ofRun);
  const { user, found } = await reachStep(context, caller, "updateStepRuns", stepRunId, missing);
  const { runId, jobId } = found;
  if (ofRun !== undefined && ofRun !== runId) throw missing();
  await findRunHead(context, runId, pipelineId);
  if (priority === undefined && metadata === undefined) throw fixed(stepRunId, found.actor.index.status as StepStatus);
  const change: StepChange = {
    ...(priority !== undefined && { priority }),
    ...(metadata !== undefined && { metadata: Object.entries(metadata) }),
  };
  const by = claimedIdentity(user, claimed, "operator");
  const { id: commandId, repeated } = await claimRequest(context, {
    caller: user,
    scope: `updateStep/${stepRunId}`,
    requestId: given,
    body: { ...change, operator: by },
    freshId: () => newId("cmd"),
  });
  const known = repeated ? await context.stores.inbox.verdict(commandId) : undefined;
  if (known !== undefined) user.trail?.changedNothing();
  const before = await showStepRun(context, caller, runId, stepRunId);
  // A repeat of a change that was made finds what it has made.
  if (known === undefined) match?.(before);
  const body: UpdateCommand = {
    kind: "updateStep",
    jobId,
    stepRunId,
    change,
    // Another change may come before this one.
    ...(match && { expected: { priority: before.priority, metadata: before.metadata } }),
    operator: by,
    actor: user.name,
  };
  const order = {
    by: user,
    change: {
      kind: "step",
      id: stepRunId,
      before: recordOf(runId, before),
      after: recordOf(runId, { ...before, ...changed(change) }),
    },
  } as const;
  const verdict = await verdictOn(context, { id: commandId, rootId: runId, body, order }, known);
  const after = await showStepRun(context, caller, runId, stepRunId);
  if (verdict.outcome === "accepted") return after;
  match?.(after);
  throw refused(stepRunId, verdict.status as StepStatus);
}

/** The demand of a caller who names the version of the step run. */
export function demandVersion(expected: string): Precondition<StepRunView> {
  return (step) => {
    const version = stepVersion(step);
    if (version === expected) return;
    const text = `step run ${step.stepRunId} has changed since it was read: its version is ${version} now; read it again and repeat the change`;
    throw new MillraceError("precondition_failed", text);
  };
}

export function updatedStep({ stepRunId, jobId, runId, status, priority, metadata }: StepRunView): UpdatedStepView {
  const statusCode = STEP_STATUS_CODES[status];
  return { stepRunId, jobId, runId, status, statusCode, priority, metadata: Object.fromEntries(metadata) };
}

function changed({ priority, metadata }: StepChange): Partial<Pick<StepRunView, "priority" | "metadata">> {
  return { ...(priority !== undefined && { priority }), ...(metadata !== undefined && { metadata }) };
}

/** A value of metadata may be a secret of a user: the audit log has the keys. */
function recordOf(runId: RunId, { priority, metadata }: Pick<StepRunView, "priority" | "metadata">) {
  return { runId, command: "update", priority, metadataKeys: metadata.map(([key]) => key) };
}

/** What a step does is part of the plan of its run, and a plan never changes. */
function fixed(stepRunId: StepRunId, status: StepStatus): MillraceError {
  return new MillraceError(
    "conflict",
    `step run ${stepRunId} is ${status}, and what it does was fixed when its run was planned; only its priority and metadata ` +
      "can be changed: cancel it and create another one, or save the definition and trigger a new run",
  );
}

function refused(stepRunId: StepRunId, status: StepStatus): MillraceError {
  const why =
    status === "pending"
      ? "its job has an agent, so that no priority counts any more: leave the priority out; " +
        "or its job is a matrix whose cells are made when it begins: change the steps of the cells then"
      : isActiveStepStatus(status)
        ? "it has been dispatched to an agent: only a step run before that can be changed"
        : "it has ended";
  return new MillraceError("conflict", `cannot change step run ${stepRunId}, which is ${status}: ${why}`);
}
