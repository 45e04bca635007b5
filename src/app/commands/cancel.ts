/** The end of one job, or of one step that runs: commands stored in the inbox of the run, and the job's verdicts on them. */
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
import { authoriseUser, type Caller, claimedIdentity, type UserCaller } from "../identity/access.ts";
import { verdictOn } from "./commands.ts";
import type { CommandsContext } from "./context.ts";
import { findRunHead } from "../find.ts";
import { claimRequest } from "../request-ids.ts";
import { commandBody } from "./run-commands.ts";
import { noStepRun } from "../step-runs.ts";

/** Run and pipeline absent for any. */
interface CancelRequest extends z.output<typeof commandBody> {
  readonly pipelineId?: PipelineId;
  readonly runId?: RunId;
}

export interface CancelledJob {
  readonly jobId: JobRunId;
  readonly runId: RunId;
  /** `cancelled`, or `running` while a step of it still does. */
  readonly status: JobStatus;
  readonly statusCode: number;
}

export interface CancelledStep {
  readonly stepRunId: StepRunId;
  readonly jobId: JobRunId;
  readonly runId: RunId;
  /** When the call was decided: it has been asked to end, and ends once its agent says so. */
  readonly status: StepStatus;
  readonly statusCode: number;
}

/**
 * Ends a step that is queued or running, and with it its job, as `cancelled`: later steps are skipped, but for those whose
 * conditions ask to run then; one of those is ended with all that would come after it. A repeat is accepted. Throws
 * `not_found`, `conflict` for a step that has not begun or has ended, and `unavailable` when there is no decision within
 * 5 s: the call is then stored, and safe to repeat with the same `requestId`.
 */
export async function cancelStep(
  context: CommandsContext,
  caller: Caller,
  input: CancelRequest & { readonly stepRunId: StepRunId },
): Promise<CancelledStep> {
  const user = authoriseUser(caller, "controlRun");
  const { stepRunId } = input;
  const located = await context.stores.aggregates.findStep(stepRunId);
  if (located === undefined || !isOfRun(located, input)) throw noStepRun(stepRunId, input.runId);
  const { runId, jobId } = located;
  const status = (await decided(context, user, input, { kind: "cancelStep", runId, jobId, stepRunId })) as StepStatus;
  return { stepRunId, jobId, runId, status, statusCode: STEP_STATUS_CODES[status] };
}

/**
 * Ends a job whose stage has begun, and all cells of one that was spread, as `cancelled`, which counts as a failure of the
 * run. Else as {@link cancelStep}.
 */
export async function cancelJob(
  context: CommandsContext,
  caller: Caller,
  input: CancelRequest & { readonly jobId: JobRunId },
): Promise<CancelledJob> {
  const user = authoriseUser(caller, "controlRun");
  const { jobId } = input;
  const located = await context.stores.aggregates.findJob(jobId);
  if (located === undefined || !isOfRun(located, input)) {
    const where = input.runId === undefined ? "" : ` in run ${JSON.stringify(input.runId)}`;
    throw new MillraceError("not_found", `there is no job ${JSON.stringify(jobId)}${where}`);
  }
  const { runId } = located;
  const status = (await decided(context, user, input, { kind: "cancelJob", runId, jobId })) as JobStatus;
  return { jobId, runId, status, statusCode: JOB_STATUS_CODES[status] };
}

type Aim = { readonly runId: RunId; readonly jobId: JobRunId } & (
  | { readonly kind: "cancelJob" }
  | { readonly kind: "cancelStep"; readonly stepRunId: StepRunId }
);

/** The status that it has then. */
async function decided(
  context: CommandsContext,
  user: UserCaller,
  input: CancelRequest,
  { runId, ...aim }: Aim,
): Promise<JobStatus | StepStatus> {
  const operator = claimedIdentity(user, input.operator, "operator");
  await findRunHead(context, runId, input.pipelineId);
  const id = aim.kind === "cancelStep" ? aim.stepRunId : aim.jobId;
  const { reason = "", requestId } = input;
  const { id: commandId, repeated } = await claimRequest(context, {
    caller: user,
    scope: `${aim.kind}/${id}`,
    requestId,
    body: { reason, operator },
    freshId: () => newId("cmd"),
  });
  const known = repeated ? await context.stores.inbox.verdict(commandId) : undefined;
  const body: CancelCommand = { ...aim, reason, operator, actor: user.name };
  const verdict = await verdictOn(context, { id: commandId, rootId: runId, body }, known);
  const status = verdict.status as JobStatus | StepStatus;
  if (verdict.outcome === "refused") throw refused(aim.kind, id, status);
  return status;
}

function refused(kind: CancelCommand["kind"], id: string, status: JobStatus | StepStatus): MillraceError {
  const [what, rule] =
    kind === "cancelStep"
      ? ["step run", "only one that is queued or running can be; cancel its job, or stop the run"]
      : ["job", "only one whose stage has begun can be; stop the run"];
  const why = isActiveStepStatus(status as StepStatus) ? `: ${rule}` : ", and has ended";
  return new MillraceError("conflict", `cannot cancel ${what} ${id}, which is ${status}${why}`);
}

function isOfRun({ runId }: { readonly runId: RunId }, input: CancelRequest): boolean {
  return input.runId === undefined || input.runId === runId;
}
