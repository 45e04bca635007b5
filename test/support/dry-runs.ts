/** Dry runs for tests: a field that the test does not set has a plain value. */
import { ANY_AGENT } from "../../src/domain/labels.ts";
import type { DryJob, DryRun, DryStage, DryStep } from "../../src/planner/dry-run.ts";
import type { Verdict } from "../../src/planner/judge.ts";

export const RUNS: Verdict = { outcome: "runs", decidedBy: "success()", certain: false };

interface StageParts extends Partial<Omit<DryStage, "jobs">> {
  readonly jobs: readonly JobParts[];
}
interface JobParts extends Partial<Omit<DryJob, "steps">> {
  readonly steps?: readonly Partial<DryStep>[];
}

export function dryRunOf(stages: readonly StageParts[], trigger: Partial<DryRun["trigger"]> = {}): DryRun {
  const jobs = stages.flatMap((stage) => stage.jobs);
  return {
    trigger: { kind: "manual", ref: "", ...trigger },
    stages: stages.map((stage, at) => ({
      name: `stage-${at}`,
      when: "success()",
      verdict: RUNS,
      approval: false,
      ...stage,
      jobs: stage.jobs.map(jobOf),
    })),
    jobsCount: jobs.length,
    stepsCount: jobs.reduce((sum, { steps = [] }) => sum + steps.length, 0),
    secrets: [],
    warnings: [],
  };
}

function jobOf(job: JobParts, at: number): DryJob {
  return {
    name: `job-${at}`,
    baseName: `job-${at}`,
    matrix: [],
    cellsFrom: null,
    needs: [],
    when: "success()",
    verdict: RUNS,
    approval: false,
    selector: ANY_AGENT,
    ...job,
    steps: (job.steps ?? []).map((step, index) => ({
      name: `step-${index}`,
      id: "",
      uses: "shell",
      when: "success()",
      verdict: RUNS,
      ...step,
    })),
  };
}
