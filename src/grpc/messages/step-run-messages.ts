/** Step runs as messages of steprun.v1, and the step of a message in the form that a definition has. */
import type {
  AgentSelector as SelectorMessage,
  Artifact,
  RetryPolicy,
  StepRunRecord,
  StepRunSpec,
  StepRunUsage,
} from "../../../proto/generated/steprun/v1/steprun.ts";
import type { StepRunFile } from "../../app/content/artifacts.ts";
import { type StepRunView, stepVersion } from "../../app/runs/step-run-view.ts";
import { MillraceError } from "../../domain/errors.ts";
import type { AgentSelector } from "../../domain/labels.ts";
import type { PlannedStep } from "../../domain/plan.ts";
import type { ResourceUsage } from "../../domain/resource-usage.ts";
import { nonEmpty, withoutUndefined, wholeMs } from "./fields.ts";
import { LABEL_OPERATORS, STEP_STATUSES, wordOf } from "./words.ts";

type Fields = Readonly<Record<string, unknown>>;

export function stepRunRecord(step: StepRunView): StepRunRecord {
  return {
    stepRunId: step.stepRunId,
    runId: step.runId,
    pipelineId: step.pipelineId,
    jobId: step.jobId,
    stepIndex: step.index,
    spec: specMessage(step),
    status: STEP_STATUSES[step.status],
    attempt: step.attempt,
    retryOf: step.retryOf ?? "",
    retriedBy: step.retriedBy ?? "",
    reusedFrom: step.reusedFrom ?? "",
    agentId: step.agentId ?? "",
    reason: step.reason,
    waitingFor: step.waitingFor?.text ?? "",
    ...(step.exitCode === null ? {} : { exitCode: step.exitCode }),
    lastLine: BigInt(step.lastLine ?? 0),
    queuedAtMs: wholeMs(step.queuedAt),
    startedAtMs: wholeMs(step.startedAt),
    endedAtMs: wholeMs(step.endedAt),
    usage: usageMessage(step.usage),
    priority: step.priority,
    metadata: Object.fromEntries(step.metadata),
    version: stepVersion(step),
  };
}

export function usageMessage(usage: ResourceUsage | null): StepRunUsage | undefined {
  return usage === null ? undefined : { cpuMs: BigInt(usage.cpuMs), maxRssBytes: BigInt(usage.maxRssBytes) };
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
    artifactPaths: spec.artifacts.flatMap(({ paths }) => paths),
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

function selectorMessage({ matchLabels, matchExpressions, trusted }: AgentSelector): SelectorMessage {
  return {
    trusted: trusted === true,
    matchLabels: Object.fromEntries(matchLabels),
    matchExpressions: matchExpressions.map(({ key, operator, values }) => ({
      key,
      operator: LABEL_OPERATORS[operator],
      values: [...values],
    })),
  };
}

export function fileMessage({ sizeBytes, storedAtMs, ...file }: StepRunFile): Artifact {
  return { ...file, sizeBytes: BigInt(sizeBytes), storedAtMs: BigInt(storedAtMs) };
}

/** The step as a definition has it. Throws `malformed_request` for arguments that are not JSON; the validator of definitions checks the rest. */
export function readStep(spec: StepRunSpec): Fields {
  const { name, uses, action, when, timeoutMs, continueOnError, retry, workingDirectory, artifactPaths } = spec;
  return withoutUndefined({
    name: nonEmpty(name),
    uses,
    action: nonEmpty(action),
    args: argsOf(spec),
    env: spec.env.length === 0 ? undefined : Object.fromEntries(spec.env.map(({ name: key, value }) => [key, value])),
    when: nonEmpty(when),
    timeout: duration(timeoutMs),
    retry: retry && retryOf(retry),
    continueOnError: continueOnError || undefined,
    workingDirectory: nonEmpty(workingDirectory),
    artifacts: artifactPaths.length === 0 ? undefined : [{ name: "artifacts", paths: artifactPaths }],
  });
}

export function readSelector({ matchLabels, matchExpressions, trusted }: SelectorMessage): Fields {
  return {
    ...(trusted && { trusted }),
    matchLabels,
    matchExpressions: matchExpressions.map(({ key, operator, values }) =>
      withoutUndefined({
        key,
        operator: wordOf(LABEL_OPERATORS, operator),
        values: values.length === 0 ? undefined : values,
      }),
    ),
  };
}

function argsOf({ argsJson }: StepRunSpec): unknown {
  if (argsJson === "") return undefined;
  try {
    return JSON.parse(argsJson);
  } catch (error) {
    const message = `args_json is not valid JSON: ${(error as Error).message}`;
    const problems = [{ code: "json", pointer: "/spec/argsJson", message }];
    throw new MillraceError("malformed_request", message, { problems });
  }
}

/** `exit:<code>` means the cause `failed` with that exit code; a definition has causes and exit codes in two fields. */
function retryOf({ maxAttempts, delayMs, backoff, maxDelayMs, on }: RetryPolicy): Fields {
  const exitCodes = on.flatMap((cause) => /^exit:(\d{1,3})$/.exec(cause)?.[1] ?? []).map(Number);
  const causes = on.map((cause) => (/^exit:\d{1,3}$/.test(cause) ? "failed" : cause));
  return withoutUndefined({
    attempts: maxAttempts,
    delay: duration(delayMs),
    backoff: backoff === 0 ? undefined : backoff,
    maxDelay: duration(maxDelayMs),
    on: causes.length === 0 ? undefined : [...new Set(causes)],
    exitCodes: exitCodes.length === 0 ? undefined : exitCodes,
  });
}

function duration(ms: bigint): string | undefined {
  return ms === 0n ? undefined : `${ms}ms`;
}
