/** The status words and other words of the API, each with its enum value in messages. */
import type {
  ApprovalStatus,
  JobStatus,
  RerunScope,
  RunStatus,
  SpecFormat,
} from "../../../proto/generated/pipeline/v1/pipeline.ts";
import type {
  LabelOperator as OperatorMessage,
  LogStream,
  StepRunStatus,
} from "../../../proto/generated/steprun/v1/steprun.ts";
import type { LabelOperator } from "../../domain/labels.ts";
import type * as words from "../../domain/status.ts";

export const RUN_STATUSES = {
  pending: "RUN_STATUS_PENDING",
  running: "RUN_STATUS_RUNNING",
  success: "RUN_STATUS_SUCCESS",
  failed: "RUN_STATUS_FAILED",
  cancelled: "RUN_STATUS_CANCELLED",
  paused: "RUN_STATUS_PAUSED",
  partial: "RUN_STATUS_PARTIAL",
} as const satisfies Record<words.RunStatus, RunStatus>;

export const JOB_STATUSES = {
  pending: "JOB_STATUS_PENDING",
  queued: "JOB_STATUS_QUEUED",
  running: "JOB_STATUS_RUNNING",
  success: "JOB_STATUS_SUCCESS",
  failed: "JOB_STATUS_FAILED",
  cancelled: "JOB_STATUS_CANCELLED",
} as const satisfies Record<words.JobStatus, JobStatus>;

export const STEP_STATUSES = {
  pending: "STEP_RUN_STATUS_PENDING",
  queued: "STEP_RUN_STATUS_QUEUED",
  running: "STEP_RUN_STATUS_RUNNING",
  success: "STEP_RUN_STATUS_SUCCESS",
  failed: "STEP_RUN_STATUS_FAILED",
  cancelled: "STEP_RUN_STATUS_CANCELLED",
  timeout: "STEP_RUN_STATUS_TIMEOUT",
  skipped: "STEP_RUN_STATUS_SKIPPED",
} as const satisfies Record<words.StepStatus, StepRunStatus>;

export const APPROVAL_STATUSES = {
  pending: "APPROVAL_STATUS_PENDING",
  approved: "APPROVAL_STATUS_APPROVED",
  rejected: "APPROVAL_STATUS_REJECTED",
  expired: "APPROVAL_STATUS_EXPIRED",
  cancelled: "APPROVAL_STATUS_CANCELLED",
} as const satisfies Record<words.ApprovalStatus, ApprovalStatus>;

export const RERUN_SCOPES = {
  all: "RERUN_SCOPE_ALL",
  failed: "RERUN_SCOPE_FAILED",
  step: "RERUN_SCOPE_STEP",
} as const satisfies Record<string, RerunScope>;

export const FORMATS = {
  json: "SPEC_FORMAT_JSON",
  yaml: "SPEC_FORMAT_YAML",
} as const satisfies Record<"json" | "yaml", SpecFormat>;

export const LABEL_OPERATORS = {
  In: "LABEL_OPERATOR_IN",
  NotIn: "LABEL_OPERATOR_NOT_IN",
  Exists: "LABEL_OPERATOR_EXISTS",
  NotExists: "LABEL_OPERATOR_NOT_EXISTS",
  Gt: "LABEL_OPERATOR_GT",
  Lt: "LABEL_OPERATOR_LT",
} as const satisfies Record<LabelOperator, OperatorMessage>;

export const LOG_STREAMS = {
  stdout: "LOG_STREAM_STDOUT",
  stderr: "LOG_STREAM_STDERR",
} as const satisfies Record<"stdout" | "stderr", LogStream>;

/** The word of an enum value; undefined for UNSPECIFIED. */
export function wordOf<W extends string>(messages: Readonly<Record<W, string>>, message: string): W | undefined {
  return (Object.keys(messages) as W[]).find((word) => messages[word] === message);
}
