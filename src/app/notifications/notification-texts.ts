/** What a notification says by default: what happened, why, and where it is seen. Pure. */
import { formatDuration } from "../../domain/durations.ts";
import type { NotificationValues, NotificationReason } from "../../domain/plan.ts";

/** How many failed jobs the default text tells one by one. */
const TOLD_JOBS = 10;

export interface FailedJob {
  readonly name: string;
  /** In words; empty when it is not known. */
  readonly why: string;
}

export interface NotificationFacts {
  readonly on: NotificationReason;
  readonly runId: string;
  readonly pipeline: string;
  readonly status: string;
  readonly reason: string;
  /** Empty when the notification is about the run. */
  readonly job: string;
  /** The first ones, `MAX_FAILED_JOBS` at most, and how many there are. */
  readonly failed: readonly FailedJob[];
  readonly failedCount: number;
  readonly triggeredBy: string;
  readonly ref: string;
  readonly commit: string;
  /** Milliseconds. */
  readonly durationMs: number;
  /** `the approval of stage deploy`, `a place in the group "production"`, `an agent`; empty otherwise. */
  readonly waitingFor: string;
  /** The question to the approvers; empty otherwise. */
  readonly question: string;
  readonly url: string;
}

export function notificationValuesOf(facts: NotificationFacts): NotificationValues {
  const { on, status, reason, job, failed, triggeredBy, ref, commit, durationMs, waitingFor, url } = facts;
  return {
    on,
    status,
    reason,
    subject: subjectOf(facts),
    text: textOf(facts),
    url,
    job,
    failedJobs: failed.map(({ name }) => name),
    triggeredBy,
    ref,
    commit,
    duration: Math.round(durationMs / 1_000),
    waitingFor,
  };
}

const ENDS = {
  success: "succeeded",
  failure: "failed",
  partial: "ended in part: only jobs that may fail have failed",
  cancelled: "was cancelled",
  fixed: "succeeded again",
} as const;

function subjectOf({ on, pipeline, job, ref, durationMs, waitingFor }: NotificationFacts): string {
  const subject = job === "" ? pipeline : `${pipeline}: job ${job}`;
  const at = ref === "" ? "" : ` (${ref})`;
  if (on === "approval") return `${pipeline} asks for ${waitingFor}${at}`;
  if (on === "waiting") return `${subject} has waited ${lengthOf(durationMs)} for ${waitingFor}${at}`;
  return `${subject} ${ENDS[on]}${at}`;
}

function textOf(facts: NotificationFacts): string {
  const { failed, failedCount, reason, triggeredBy, commit, durationMs, on, url, question, runId } = facts;
  const isEnd = on !== "approval" && on !== "waiting";
  const lines = [`${subjectOf(facts)}.`];
  if (reason !== "") lines.push(`Why: ${inWords(reason)}.`);
  const told = failed.slice(0, TOLD_JOBS);
  for (const { name, why } of told) lines.push(why === "" ? `- ${name} failed` : `- ${name}: ${why}`);
  if (failedCount > told.length) lines.push(`- and ${failedCount - told.length} more`);
  if (question !== "") lines.push(question);
  const details = [
    ...(triggeredBy === "" ? [] : [`triggered by ${triggeredBy}`]),
    ...(commit === "" ? [] : [`commit ${commit.slice(0, 12)}`]),
    ...(isEnd && durationMs > 0 ? [`took ${lengthOf(durationMs)}`] : []),
  ];
  lines.push("", [`Run ${runId}`, ...details].join(", "));
  if (url !== "") lines.push(url);
  return lines.join("\n");
}

/** Reasons of jobs and steps that are words of the program; what users wrote stays as it is. */
const REASON_WORDS: Readonly<Record<string, string>> = {
  matrix: "its matrix is not valid",
  matrix_limit: "its matrix has too many cells",
  cell_failed: "a cell of its matrix failed",
  condition_failed: "a condition cannot be evaluated",
  expression_limit: "its expressions need too much work",
  upstream_failed: "something before it failed",
  approval_rejected: "the approval was rejected",
  approval_expired: "the approval was not given in time",
  group_invalid: "the name of its group is not valid",
  group_full: "its group is full",
  step_failed: "a step failed",
  agent_lost: "its agent was lost",
  dispatch_failed: "its agent could not start a step",
  queue_timeout: "no agent took it in time",
  timeout: "it took too long",
  cancelled: "it was cancelled",
  fail_fast: "another cell of its matrix failed",
};

export function inWords(reason: string): string {
  return Object.hasOwn(REASON_WORDS, reason) ? REASON_WORDS[reason]! : reason;
}

/** `30m` and not `30m00s`. */
function lengthOf(ms: number): string {
  return formatDuration(ms).replace(/(?<=[hm])00[ms]$/, "");
}
