/**
 * The spans of an ended run, by the semantic conventions of OpenTelemetry for CI/CD: one for the run, one for each job run
 * and each step run that has started. They follow from what is stored, so they are the same on every node.
 */
import { type JobState, jobName } from "../../../actors/job/state.ts";
import type { RunState } from "../../../actors/run/state.ts";
import type { StepState } from "../../../actors/step/state.ts";
import { parseTraceparent, spanIdOf, traceIdOf } from "../../telemetry/trace-ids.ts";
import type { RunPlan } from "../../domain/plan.ts";
import { stepName } from "../../../actors/job/step-name.ts";
import type { Aggregate } from "../../stores/ports/aggregates.ts";
import type { Attributes, Span } from "../../telemetry/spans.ts";

/** Values of `cicd.pipeline.result` and `cicd.pipeline.task.run.result`. A partial run has succeeded: its failures are tolerated. */
const RESULTS: Readonly<Record<string, string>> = {
  success: "success",
  partial: "success",
  failed: "failure",
  cancelled: "cancellation",
  timeout: "timeout",
  skipped: "skip",
};
const FAILURES = new Set(["failure", "timeout"]);

export interface EndedRun {
  readonly aggregate: Aggregate;
  readonly plan: RunPlan;
  readonly pipelineName: string;
  /** The address of the API, for links to the run; absent where none is configured. */
  readonly publicUrl?: string | undefined;
}

export function spansOf({ aggregate: { head, actors }, plan, pipelineName, publicUrl }: EndedRun): readonly Span[] {
  const { rootId: runId } = head;
  const traceId = traceIdOf(runId);
  const url = publicUrl === undefined ? undefined : `${publicUrl}/api/v1/pipelines/runs/${runId}`;
  const ofTask = url === undefined ? {} : { "cicd.pipeline.task.run.url.full": url };
  const spans: Span[] = [];
  const cells = new Map(actors.flatMap(({ kind, state }) => (kind === "job" ? [cellOf(state as JobState)] : [])));
  for (const { kind, state } of actors) {
    if (kind === "run") spans.push(ofRun(head, state as RunState, pipelineName, url));
    else if (kind === "job") spans.push(...ofJob(state as JobState, plan, ofTask));
    else if (kind === "step") spans.push(...ofStep(state as StepState, cells, plan, ofTask));
  }
  return spans.map((span) => ({ ...span, traceId }));
}

function ofRun({ rootId, origin, summary }: Aggregate["head"], run: RunState, name: string, url?: string): Span {
  const { traceparent } = origin;
  const caller = traceparent === undefined ? undefined : parseTraceparent(traceparent);
  const result = run.timedOut && run.state === "failed" ? "timeout" : RESULTS[run.state]!;
  return {
    traceId: "",
    spanId: spanIdOf(rootId),
    parentSpanId: null,
    name: `RUN ${name}`,
    kind: "server",
    startMs: summary.createdAt,
    endMs: Math.max(summary.createdAt, summary.endedAt!),
    attributes: {
      "cicd.pipeline.name": name,
      "cicd.pipeline.run.id": rootId,
      "cicd.pipeline.action.name": "RUN",
      "cicd.pipeline.result": result,
      ...(url === undefined ? {} : { "cicd.pipeline.run.url.full": url }),
      "millrace.project.id": summary.projectId,
      "millrace.pipeline.id": summary.pipelineId,
      "millrace.run.status": run.state,
      "millrace.run.attempt": origin.attempt,
      "millrace.trigger": origin.trigger.kind,
      ...errorType(result, run.reason),
    },
    links: caller === undefined ? [] : [caller],
    error: FAILURES.has(result) ? run.reason : null,
  };
}

function ofJob(job: JobState, plan: RunPlan, ofTask: Attributes): readonly Span[] {
  const { runId, jobId, startedAt, endedAt, reusedFrom, state, reason, attempt, grant, queuedAt } = job;
  const planned = plan.jobs[job.index];
  if (planned === undefined || startedAt === null || endedAt === null || reusedFrom !== null) return [];
  const result = RESULTS[state]!;
  return [
    {
      traceId: "",
      spanId: spanIdOf(jobId),
      parentSpanId: spanIdOf(runId),
      name: jobName(planned, job),
      kind: "internal",
      startMs: startedAt,
      endMs: Math.max(startedAt, endedAt),
      attributes: {
        "cicd.pipeline.task.name": jobName(planned, job),
        "cicd.pipeline.task.run.id": jobId,
        "cicd.pipeline.task.run.result": result,
        ...ofTask,
        ...(grant === null ? {} : { "cicd.worker.id": grant.agentId }),
        "millrace.job.attempt": attempt,
        ...(queuedAt === null ? {} : { "millrace.job.waited_ms": Math.max(0, startedAt - queuedAt) }),
        ...errorType(result, reason),
      },
      links: [],
      error: FAILURES.has(result) ? reason : null,
    },
  ];
}

const cellOf = ({ jobId, matrix }: JobState) => [jobId, matrix] as const;

function ofStep(
  step: StepState,
  cells: ReadonlyMap<string, JobState["matrix"]>,
  plan: RunPlan,
  ofTask: Attributes,
): readonly Span[] {
  const { stepRunId, jobId, startedAt, endedAt, reusedFrom, state, reason, attempt, exitCode } = step;
  const planned = plan.jobs[step.jobIndex]?.steps[step.index];
  if (planned === undefined || startedAt === null || endedAt === null || reusedFrom !== null) return [];
  const result = RESULTS[state]!;
  const name = stepName(planned, cells.get(jobId) ?? []);
  return [
    {
      traceId: "",
      spanId: spanIdOf(stepRunId),
      parentSpanId: spanIdOf(jobId),
      name,
      kind: "internal",
      startMs: startedAt,
      endMs: Math.max(startedAt, endedAt),
      attributes: {
        "cicd.pipeline.task.name": name,
        "cicd.pipeline.task.run.id": stepRunId,
        "cicd.pipeline.task.run.result": result,
        ...ofTask,
        "millrace.step.attempt": attempt,
        ...(exitCode === null ? {} : { "process.exit.code": exitCode }),
        ...errorType(result, reason),
      },
      links: [],
      error: FAILURES.has(result) ? reason : null,
    },
  ];
}

/** A class of errors, so never the text of a user. */
function errorType(result: string, reason: string): Attributes {
  if (!FAILURES.has(result)) return {};
  return { "error.type": /^[a-z_]{1,40}$/.test(reason) ? reason : result };
}
