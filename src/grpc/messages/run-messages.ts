/** Runs with their jobs and steps, and timelines, as messages of pipeline.v1. */
import {
  type GetRunTimelineResponse,
  type JobRun,
  type JobStep,
  PipelineRun,
  type RunSummary,
  type StartTiming,
  type WaitingFor as WaitMessage,
} from "../../../proto/generated/pipeline/v1/pipeline.ts";
import type { RunFormat } from "../../app/runs/run-detail.ts";
import type { JobDetail, RunView } from "../../app/runs/run-view.ts";
import type { TimelineView } from "../../app/runs/timeline.ts";
import type { PlainWait, WaitingFor } from "../../app/runs/waiting.ts";
import { approvalMessage } from "./approval-messages.ts";
import { commitStatusMessage } from "./repository-messages.ts";
import { unixMs } from "./fields.ts";
import { TRIGGER_KINDS } from "./plan-messages.ts";
import { usageMessage } from "./step-run-messages.ts";
import { JOB_STATUSES, RUN_STATUSES, STEP_STATUSES } from "./words.ts";

type StepView = JobDetail["steps"][number];

/** The tag of `GetPipelineRunResponse.run`: field 1, with a length. */
const RUN_FIELD = (1 << 3) | 2;

export function runSummary(run: RunView): RunSummary {
  return {
    runId: run.runId,
    pipelineId: run.pipelineId,
    projectId: run.projectId,
    status: RUN_STATUSES[run.status],
    trigger: { kind: TRIGGER_KINDS[run.trigger.kind], ref: run.trigger.ref },
    triggeredBy: run.triggeredBy,
    actor: run.actor,
    commitSha: run.commitSha,
    attempt: run.attempt,
    retryOf: run.retryOf ?? "",
    adHoc: run.adHoc,
    waitingFor: waitMessage(run.waitingFor),
    createdAtMs: unixMs(run.createdAt),
    startedAtMs: unixMs(run.startTime),
    endedAtMs: unixMs(run.endTime),
  };
}

/** `GetPipelineRunResponse`, encoded. Messages that are encoded one after the other decode as one message with the fields of all. */
export const RUN_MESSAGE: RunFormat = {
  name: "protobuf",
  jobs: (jobs) => PipelineRun.encode(PipelineRun.create({ jobs: jobs.map(jobMessage) })).finish(),
  whole(run, jobs) {
    const brief = PipelineRun.encode({
      summary: runSummary(run),
      variables: run.variables,
      reason: run.reason,
      retriedBy: run.retriedBy ?? "",
      jobs: [],
      jobCount: run.jobCount,
      commitStatus: run.commitStatus === null ? undefined : commitStatusMessage(run.commitStatus),
      approvals: run.approvals.map(approvalMessage),
      uploads: Object.fromEntries(
        Object.entries(run.uploads).map(([name, { size, ...one }]) => [name, { ...one, sizeBytes: BigInt(size) }]),
      ),
    }).finish();
    const bytes = jobs.reduce((sum, { length }) => sum + length, brief.length);
    return Buffer.concat([Buffer.of(RUN_FIELD, ...varint(bytes)), brief, ...jobs]);
  },
};

/** Seven bits in each byte, the lowest ones first: https://protobuf.dev/programming-guides/encoding/#varints */
function varint(value: number): readonly number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))];
}

export function timelineMessage({ list, next }: TimelineView): GetRunTimelineResponse {
  return {
    transitions: list.map(
      ({ number, time, object, lifecycle, status, jobId, stepRunId, name, cause, by, ...rest }) => ({
        number: BigInt(number),
        timeMs: unixMs(time),
        object,
        lifecycle,
        status,
        jobId: jobId ?? "",
        stepRunId: stepRunId ?? "",
        name,
        cause: String(cause),
        by: String(by),
        dataJson: JSON.stringify(rest),
      }),
    ),
    next: BigInt(next ?? 0),
  };
}

function jobMessage(job: JobDetail): JobRun {
  return {
    jobId: job.jobId,
    priority: job.priority,
    name: job.name,
    stage: job.stage,
    matrix: Object.fromEntries(Object.entries(job.matrix).map(([axis, value]) => [axis, String(value)])),
    needs: [...job.needs],
    status: JOB_STATUSES[job.status],
    attempt: job.attempt,
    retryOf: job.retryOf ?? "",
    retriedBy: job.retriedBy ?? "",
    reusedFrom: job.reusedFrom ?? "",
    agentId: job.agentId ?? "",
    reason: job.reason,
    gaveWayTo: job.gaveWayTo ?? "",
    waitingFor: waitMessage(job.waitingFor),
    queuedAtMs: unixMs(job.queuedAt),
    startedAtMs: unixMs(job.startTime),
    endedAtMs: unixMs(job.endTime),
    steps: job.steps.map(stepMessage),
  };
}

function stepMessage(step: StepView): JobStep {
  return {
    stepRunId: step.stepRunId,
    metadata: step.metadata ?? {},
    name: step.name,
    status: STEP_STATUSES[step.status],
    attempt: step.attempt,
    retryOf: step.retryOf ?? "",
    retriedBy: step.retriedBy ?? "",
    reusedFrom: step.reusedFrom ?? "",
    ...(step.exitCode === null ? {} : { exitCode: step.exitCode }),
    reason: step.reason,
    lastLine: BigInt(step.lastLine ?? 0),
    waitingFor: waitMessage(step.waitingFor),
    startedAtMs: unixMs(step.startTime),
    endedAtMs: unixMs(step.endTime),
    timing: timingMessage(step.timing),
    usage: usageMessage(step.usage),
  };
}

function timingMessage({ waits, ...moments }: StepView["timing"]): StartTiming {
  return {
    triggeredAtMs: unixMs(moments.triggeredAt),
    plannedAtMs: unixMs(moments.plannedAt),
    offeredAtMs: unixMs(moments.offeredAt),
    claimedAtMs: unixMs(moments.claimedAt),
    dispatchedAtMs: unixMs(moments.dispatchedAt),
    startedAtMs: unixMs(moments.startedAt),
    waits: Object.fromEntries(
      Object.entries(waits).flatMap(([wait, ms]) => (ms === null ? [] : [[`${wait}Ms`, BigInt(ms)]])),
    ),
  };
}

function waitMessage(wait: WaitingFor | null): WaitMessage | undefined {
  if (wait === null) return undefined;
  return {
    reason: wait.reason,
    text: wait.text,
    needs: "needs" in wait ? [...wait.needs] : [],
    approvalId: "approvalId" in wait ? wait.approvalId : "",
    group: "group" in wait ? wait.group : "",
    holderRunId: "holder" in wait ? (wait.holder ?? "") : "",
    ahead: "group" in wait ? wait.ahead : 0,
    ...agentWaitFields("approvalId" in wait || "group" in wait ? {} : wait),
  };
}

function agentWaitFields({
  ahead,
  agents,
  quota,
}: Partial<PlainWait>): Pick<WaitMessage, "offersAhead" | "agents" | "quota"> {
  return {
    ...(ahead !== undefined && { offersAhead: ahead }),
    agents: agents && {
      online: agents.online,
      matching: agents.matching,
      failing: agents.failing.map(({ agentIds, ...failed }) => ({ ...failed, agentIds: [...agentIds] })),
      nearestAgentId: agents.nearest?.agentId ?? "",
      nearestFailing: [...(agents.nearest?.failing ?? [])],
      busy: agents.busy.map(({ jobs = [], ...agent }) => ({ ...agent, jobs: [...jobs] })),
    },
    quota: quota && { ...quota, jobs: [...(quota.jobs ?? [])] },
  };
}
