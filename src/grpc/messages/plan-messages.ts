/** Diagnostics and plans as messages of pipeline.v1. */
import type {
  AgentMatch,
  Diagnostic as DiagnosticMessage,
  JobPlan,
  PlanPipelineResponse,
  StagePlan,
  Verdict as VerdictMessage,
} from "../../../proto/generated/pipeline/v1/pipeline.ts";
import type { ValidationView } from "../../app/catalogue/spec-shapes.ts";
import type { AgentsView, JobView, PlanView, StageView } from "../../app/triggering/plan-view.ts";

type Diagnostic = ValidationView["diagnostics"][number];
type Verdict = StageView["verdict"];

export const TRIGGER_KINDS = {
  manual: "TRIGGER_KIND_MANUAL",
  cron: "TRIGGER_KIND_CRON",
  event: "TRIGGER_KIND_EVENT",
} as const satisfies Record<PlanView["trigger"]["kind"], string>;

const OUTCOMES = {
  runs: "PLAN_OUTCOME_RUNS",
  skipped: "PLAN_OUTCOME_SKIPPED",
  unknown: "PLAN_OUTCOME_UNKNOWN",
} as const satisfies Record<Verdict["outcome"], string>;

export function diagnosticMessage({ severity, hint = "", file = "", ...rest }: Diagnostic): DiagnosticMessage {
  return { ...rest, severity: severity === "error" ? "SEVERITY_ERROR" : "SEVERITY_WARNING", hint, file };
}

export function planMessage({ trigger, stages, warnings, jobsCount, stepsCount }: PlanView): PlanPipelineResponse {
  return {
    jobsCount,
    stepsCount,
    trigger: { kind: TRIGGER_KINDS[trigger.kind], ref: trigger.ref },
    stages: stages.map(stageMessage),
    warnings: warnings.map(diagnosticMessage),
  };
}

function stageMessage({ jobs, verdict, ...rest }: StageView): StagePlan {
  return { ...rest, verdict: verdictMessage(verdict), jobs: jobs.map(jobMessage) };
}

function jobMessage({ matrix, cellsFrom, needs, selector, agents, verdict, steps, ...rest }: JobView): JobPlan {
  return {
    ...rest,
    matrix: Object.fromEntries(Object.entries(matrix).map(([axis, value]) => [axis, String(value)])),
    cellsFrom: cellsFrom ?? "",
    needs: [...needs],
    verdict: verdictMessage(verdict),
    selector: [...selector],
    agents: agents === null ? undefined : agentsMessage(agents),
    steps: steps.map((step) => ({ ...step, verdict: verdictMessage(step.verdict) })),
  };
}

function agentsMessage({ matching, failing, ...counts }: AgentsView): AgentMatch {
  return { ...counts, matching: [...matching], failing: [...failing] };
}

function verdictMessage({ outcome, ...rest }: Verdict): VerdictMessage {
  return { ...rest, outcome: OUTCOMES[outcome] };
}
