/** The dry run: every job and step that a trigger would make, and what decided about each. Pure. */
import type { AgentSelector } from "../domain/labels.ts";
import type { Pairs, Scalar } from "../domain/plan.ts";
import type { Diagnostic } from "../definition/diagnostics.ts";
import type { Problem } from "../domain/errors.ts";
import { type PlanInput, planRun } from "./plan-run.ts";

/** What becomes of a stage, a job or a step when all that runs before it succeeds. */
export interface Verdict {
  /** `unknown`: it depends on what only the run will know, such as an output. */
  readonly outcome: "runs" | "skipped" | "unknown";
  /** The sub-expression that decided, printed; of a part of what is skipped as a whole, that of the whole. */
  readonly decidedBy: string;
  /** False when another outcome of what runs before would change it: `failure()` is false only while nothing fails. */
  readonly certain: boolean;
}

export interface DryStep {
  readonly name: string;
  /** Empty when the definition gives none. */
  readonly id: string;
  readonly uses: string;
  /** The condition in full, with what is implied. */
  readonly when: string;
  readonly verdict: Verdict;
}

export interface DryJob {
  /** Unique within the run: `test (node=20)`. */
  readonly name: string;
  readonly baseName: string;
  readonly matrix: Pairs<Scalar>;
  /** The expression whose value will make the cells of this job, once the jobs that it needs have ended; else null. */
  readonly cellsFrom: string | null;
  /** Names of jobs, as in the definition. */
  readonly needs: readonly string[];
  readonly when: string;
  readonly verdict: Verdict;
  /** The job waits for an approval before it is offered to agents. */
  readonly approval: boolean;
  readonly selector: AgentSelector;
  readonly steps: readonly DryStep[];
}

export interface DryStage {
  readonly name: string;
  readonly when: string;
  readonly verdict: Verdict;
  readonly approval: boolean;
  readonly jobs: readonly DryJob[];
}

export interface DryRun {
  readonly trigger: { readonly kind: "manual" | "cron" | "event"; readonly ref: string };
  readonly stages: readonly DryStage[];
  readonly jobsCount: number;
  readonly stepsCount: number;
  readonly warnings: readonly Diagnostic[];
}

export type DryRunInput = Omit<PlanInput, "runId" | "attempt">;

export type DryRunResult =
  | { readonly ok: true; readonly plan: DryRun }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Plans without a run; the same input gives the same answer. Problems are those that a trigger would answer. */
export function dryRun(input: DryRunInput): DryRunResult {
  const planned = planRun({ ...input, runId: "run_0" as PlanInput["runId"], attempt: 1 });
  if (!planned.ok) return planned;
  const runs: Verdict = { outcome: "runs", decidedBy: "success()", certain: false };
  const stages = planned.plan.stages.map(({ name }, stage): DryStage => {
    const jobs = planned.plan.jobs.filter((job) => job.stage === stage);
    return {
      name,
      when: "success()",
      verdict: runs,
      approval: false,
      jobs: jobs.map((job) => ({
        name: job.name,
        baseName: job.baseName,
        matrix: job.matrix,
        cellsFrom: null,
        needs: [...new Set(job.needs.map((index) => planned.plan.jobs[index]!.baseName))],
        when: "success()",
        verdict: runs,
        approval: false,
        selector: job.selector,
        steps: job.steps.map((step, index) => ({
          name: step.name,
          id: "",
          uses: planned.jobs[job.index]!.steps[index]!.uses,
          when: "success()",
          verdict: runs,
        })),
      })),
    };
  });
  return {
    ok: true,
    plan: {
      trigger: { kind: input.trigger.kind, ref: input.trigger.ref },
      stages,
      jobsCount: planned.plan.jobs.length,
      stepsCount: planned.plan.jobs.reduce((sum, job) => sum + job.steps.length, 0),
      warnings: planned.warnings,
    },
  };
}
