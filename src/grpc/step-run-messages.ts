/** Step runs as messages of steprun.v1. */
import {
  type AgentSelector as SelectorMessage,
  type LabelOperator as OperatorMessage,
  type RetryPolicy,
  type StepRunRecord,
  type StepRunSpec,
  type StepRunStatus,
} from "../../proto/generated/steprun/v1/steprun.ts";
import type { StepRunView } from "../app/retry-step-run.ts";
import type { AgentSelector, LabelOperator } from "../domain/labels.ts";
import type { PlannedStep } from "../domain/plan.ts";
import type { StepStatus } from "../domain/status.ts";

const STATUSES = {
  pending: "STEP_RUN_STATUS_PENDING",
  queued: "STEP_RUN_STATUS_QUEUED",
  running: "STEP_RUN_STATUS_RUNNING",
  success: "STEP_RUN_STATUS_SUCCESS",
  failed: "STEP_RUN_STATUS_FAILED",
  cancelled: "STEP_RUN_STATUS_CANCELLED",
  timeout: "STEP_RUN_STATUS_TIMEOUT",
  skipped: "STEP_RUN_STATUS_SKIPPED",
} as const satisfies Record<StepStatus, StepRunStatus>;

const OPERATORS = {
  In: "LABEL_OPERATOR_IN",
  NotIn: "LABEL_OPERATOR_NOT_IN",
  Exists: "LABEL_OPERATOR_EXISTS",
  NotExists: "LABEL_OPERATOR_NOT_EXISTS",
  Gt: "LABEL_OPERATOR_GT",
  Lt: "LABEL_OPERATOR_LT",
} as const satisfies Record<LabelOperator, OperatorMessage>;

export function stepRunRecord(step: StepRunView): StepRunRecord {
  return {
    stepRunId: step.stepRunId,
    runId: step.runId,
    pipelineId: step.pipelineId,
    jobId: step.jobId,
    stepIndex: step.index,
    spec: specMessage(step),
    status: STATUSES[step.status],
    attempt: step.attempt,
    retryOf: step.retryOf ?? "",
    retriedBy: "",
    agentId: step.agentId ?? "",
    reason: step.reason,
    ...(step.exitCode === null ? {} : { exitCode: step.exitCode }),
    lastLine: BigInt(step.lastLine ?? 0),
    queuedAtMs: wholeMs(step.queuedAt),
    startedAtMs: wholeMs(step.startedAt),
    endedAtMs: wholeMs(step.endedAt),
  };
}

function specMessage({ planned, spec, selector }: StepRunView): StepRunSpec {
  return {
    name: spec.name,
    uses: spec.uses,
    action: spec.action,
    argsJson: JSON.stringify(spec.args),
    env: spec.env.map(([name, value]) => ({ name, value })),
    when: planned.when?.written ?? "",
    timeoutMs: wholeMs(planned.timeoutMs),
    continueOnError: planned.continueOnError,
    retry: planned.retry === null ? undefined : retryMessage(planned.retry),
    workingDirectory: spec.workingDirectory,
    artifactPaths: [],
    agentSelector: selectorMessage(selector),
  };
}

function retryMessage(retry: NonNullable<PlannedStep["retry"]>): RetryPolicy {
  const { attempts, on, exitCodes, delayMs, backoff, maxDelayMs } = retry;
  return {
    maxAttempts: attempts,
    delayMs: wholeMs(delayMs),
    backoff,
    maxDelayMs: wholeMs(maxDelayMs),
    on: [...on, ...exitCodes.map((code) => `exit:${code}`)],
  };
}

function selectorMessage({ matchLabels, matchExpressions }: AgentSelector): SelectorMessage {
  return {
    matchLabels: Object.fromEntries(matchLabels),
    matchExpressions: matchExpressions.map(({ key, operator, values }) => ({
      key,
      operator: OPERATORS[operator],
      values: [...values],
    })),
  };
}

function wholeMs(value: number | null): bigint {
  return BigInt(Math.round(value ?? 0));
}
