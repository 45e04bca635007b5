/** Cancels one job, or one step that is queued or running: a command in the inbox of the run, which the job decides. */
import { z } from "zod";
import type { CancelCommand } from "../../domain/commands.ts";
import { MillraceError } from "../../domain/errors.ts";
import { type JobRunId, newId, type PipelineId, type RunId, type StepRunId } from "../../domain/ids.ts";
import {
  isActiveStepStatus,
  JOB_STATUS_CODES,
  type JobStatus,
  STEP_STATUS_CODES,
  type StepStatus,
} from "../../domain/status.ts";
import { type Caller, claimedIdentity, type UserCaller } from "../identity/access.ts";
import { verdictOn } from "./commands.ts";
import type { CommandsContext } from "./context.ts";
import { findRunHead } from "../lookups.ts";
import { reachJob, reachStep } from "../reaching.ts";
import { claimRequest } from "../request-ids.ts";
import { id, keyOf, shape, wholeNumber } from "../shapes.ts";
import { commandBody } from "./run-commands.ts";
import { noStepRun } from "../step-runs.ts";

/** `runId` and `pipelineId` may be absent: then any run and any pipeline will do. */
interface CancelRequest extends z.output<typeof commandBody> {
  readonly pipelineId?: PipelineId;
  readonly runId?: RunId;
}

export const CancelledJobShape = shape("CancelledJob", () => ({
  jobId: id<JobRunId>(),
  runId: id<RunId>(),
  /** `cancelled`, or `running` while a step of the job still runs. */
  status: keyOf(JOB_STATUS_CODES),
  statusCode: wholeNumber,
}));

export const CancelledStepShape = shape("CancelledStep", () => ({
  stepRunId: id<StepRunId>(),
  jobId: id<JobRunId>(),
  runId: id<RunId>(),
  /**
   * The status at the time of the decision: the step has been asked to end, and ends when its agent reports the end.
   */
  status: keyOf(STEP_STATUS_CODES),
  statusCode: wholeNumber,
}));

type CancelledJob = z.infer<typeof CancelledJobShape>;
export type CancelledStep = z.infer<typeof CancelledStepShape>;

/**
 * Ends a step that is queued or running as `cancelled`, and with it its job. Later steps are skipped, except steps
 * whose condition asks to run after a cancellation; cancelling such a step also ends every step after it. A repeat is
 * accepted. Throws `not_found`, `conflict` for a step that has not begun or has ended, and `unavailable` when the job
 * has not decided within 5 s: the command is then stored, and safe to repeat with the same `requestId`.
 */
export async function cancelStep(
  context: CommandsContext,
  caller: Caller,
  input: CancelRequest & { readonly stepRunId: StepRunId },
): Promise<CancelledStep> {
  const { stepRunId } = input;
  const missing = () => noStepRun(stepRunId, input.runId);
  const { user, found } = await reachStep(context, caller, "controlRun", stepRunId, missing);
  if (!isOfRun(found, input)) throw missing();
  const { runId, jobId } = found;
  const status = (await decideCancel(context, user, input, {
    kind: "cancelStep",
    runId,
    jobId,
    stepRunId,
  })) as StepStatus;
  return { stepRunId, jobId, runId, status, statusCode: STEP_STATUS_CODES[status] };
}

/**
 * Ends a job whose stage has begun as `cancelled`, which counts as a failure of the run; a job with a matrix ends with
 * all of its cells. Repeats and errors are those of {@link cancelStep}.
 */
export async function cancelJob(
  context: CommandsContext,
  caller: Caller,
  input: CancelRequest & { readonly jobId: JobRunId },
): Promise<CancelledJob> {
  const { jobId } = input;
  const where = input.runId === undefined ? "" : ` in run ${JSON.stringify(input.runId)}`;
  const missing = () => new MillraceError("not_found", `there is no job ${JSON.stringify(jobId)}${where}`);
  const { user, found } = await reachJob(context, caller, "controlRun", jobId, missing);
  if (!isOfRun(found, input)) throw missing();
  const { runId } = found;
  const status = (await decideCancel(context, user, input, { kind: "cancelJob", runId, jobId })) as JobStatus;
  return { jobId, runId, status, statusCode: JOB_STATUS_CODES[status] };
}

type CancelTarget = { readonly runId: RunId; readonly jobId: JobRunId } & (
  | { readonly kind: "cancelJob" }
  | { readonly kind: "cancelStep"; readonly stepRunId: StepRunId }
);

/** Stores the command and waits for the verdict. Answers the status of the job or step after the decision. */
async function decideCancel(
  context: CommandsContext,
  user: UserCaller,
  input: CancelRequest,
  { runId, ...target }: CancelTarget,
): Promise<JobStatus | StepStatus> {
  const operator = claimedIdentity(user, input.operator, "operator");
  await findRunHead(context, runId, input.pipelineId);
  const targetId = target.kind === "cancelStep" ? target.stepRunId : target.jobId;
  const { reason = "", requestId } = input;
  const { id: commandId, repeated } = await claimRequest(context, {
    caller: user,
    scope: `${target.kind}/${targetId}`,
    requestId,
    body: { reason, operator },
    freshId: () => newId("cmd"),
  });
  const known = repeated ? await context.stores.inbox.verdict(commandId) : undefined;
  if (known !== undefined) user.trail?.changedNothing();
  const body: CancelCommand = { ...target, reason, operator, actor: user.name };
  const object = target.kind === "cancelStep" ? "step" : "job";
  const change = { kind: object, id: targetId, after: { runId, command: "cancel" } } as const;
  const order = { by: user, change };
  const verdict = await verdictOn(context, { id: commandId, rootId: runId, body, order }, known);
  const status = verdict.status as JobStatus | StepStatus;
  if (verdict.outcome === "refused") throw refused(target.kind, targetId, status);
  return status;
}

function refused(kind: CancelCommand["kind"], targetId: string, status: JobStatus | StepStatus): MillraceError {
  const [what, rule] =
    kind === "cancelStep"
      ? ["step run", "only one that is queued or running can be; cancel its job, or stop the run"]
      : ["job", "only one whose stage has begun can be; stop the run"];
  const why = isActiveStepStatus(status as StepStatus) ? `: ${rule}` : ", and has ended";
  return new MillraceError("conflict", `cannot cancel ${what} ${targetId}, which is ${status}${why}`);
}

function isOfRun({ runId }: { readonly runId: RunId }, input: CancelRequest): boolean {
  return input.runId === undefined || input.runId === runId;
}
