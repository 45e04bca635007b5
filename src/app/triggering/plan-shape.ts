/** The shape of a dry run. */
import { z } from "zod";
import { DiagnosticShape } from "../catalogue/diagnostic-shape.ts";
import { triggerShape } from "../runs/run-shapes.ts";
import { fields, listOf, mapOf, scalar, shape, wholeNumber } from "../shapes.ts";

const VerdictShape = shape("Verdict", () => ({
  /** `unknown`: it depends on a value that is known only during the run, such as an output. */
  outcome: z.enum(["runs", "skipped", "unknown"]),
  /** The part of the condition that decided, as text. In a stage or job that is skipped, the part that decided about the whole. */
  decidedBy: z.string(),
  /** False when a failure before it would change the outcome. */
  certain: z.boolean(),
}));

const judged = {
  /** The condition in full, with the implied `success()`. */
  when: z.string(),
  verdict: VerdictShape,
};

const PlannedStepShape = shape("PlannedStep", () => ({
  name: z.string(),
  /** Empty when the definition gives none. */
  id: z.string(),
  /** As written, or with the exact version of a plugin that the registry knows. */
  uses: z.string(),
  ...judged,
}));

const MatchShape = shape("AgentMatch", () => ({
  online: wholeNumber,
  matches: wholeNumber,
  /** In the order of their names: at most 100 agents, and fewer in plans of more than 100 jobs. */
  matching: listOf(fields(() => ({ agentId: z.string(), name: z.string() }))),
  /** The clauses that the other agents fail; the clause that most agents fail comes first. */
  failing: listOf(fields(() => ({ clause: z.string(), agents: wholeNumber }))),
}));

const PlannedJobShape = shape("PlannedJob", () => ({
  /** Unique within the run: `test (node=20)`. */
  name: z.string(),
  baseName: z.string(),
  matrix: mapOf(scalar),
  /** The expression that gives a deferred axis once the jobs that it reads have ended; null when the cells are known. */
  cellsFrom: z.string().nullable(),
  /** Names of jobs as in the definition, without matrix values. */
  needs: listOf(z.string()),
  ...judged,
  /** The job waits for an approval before it is offered to agents. */
  approval: z.boolean(),
  /** The clauses of the job's selector for people, such as `os=linux`; empty when any agent matches. */
  selector: listOf(z.string()),
  steps: listOf(PlannedStepShape),
  /** Null when the caller did not look agents up, or when presence cannot be read. */
  agents: MatchShape.nullable(),
}));

export const PlanShape = shape("Plan", () => ({
  trigger: triggerShape,
  stages: listOf(
    shape("PlannedStage", () => ({
      name: z.string(),
      ...judged,
      approval: z.boolean(),
      jobs: listOf(PlannedJobShape),
    })),
  ),
  jobsCount: wholeNumber,
  stepsCount: wholeNumber,
  /** The secrets that steps of the run read. */
  secrets: listOf(
    fields(() => ({
      name: z.string(),
      /** Whether the pipeline or its project has a secret of that name; null when the caller did not look it up. */
      isSet: z.boolean().nullable(),
    })),
  ),
  warnings: listOf(DiagnosticShape),
}));
