/**
 * The checks that concern several values of a definition at once: names, needs, matrices, paths, blocks and expressions. They
 * read the plain value, whose shape may have errors, so that one validation reports the problems of both kinds.
 */
import {
  checkApproval,
  checkConcurrency,
  checkNotify,
  checkSource,
  checkTarget,
  refuseBothSpellings,
} from "./block-checks.ts";
import { declaredVariables, pipelineTypes } from "./context-types.ts";
import { EXPRESSION_PLACES } from "../text/expression-places.ts";
import { checkJob, type CheckedJob, type JobSurroundings } from "./job-checks.ts";
import { LIMITS } from "../schema/limits.ts";
import { checkNeeds } from "./needs.ts";
import { checkEnvNames, checkName } from "./name-checks.ts";
import { asMap, type Located, mapsOf, type Raw } from "../text/raw.ts";
import { endedJobs, NO_JOBS, type Reach } from "./reach.ts";
import type { Source } from "../text/source.ts";
import { checkCondition, checkTexts, refuseExpressions } from "./texts.ts";
import { checkTriggers } from "./trigger-checks.ts";
import { meantKey } from "./unknown-keys.ts";

/** Reports what is wrong with a definition as a whole, whose images had these digests; `checkShape` reports what is wrong with its shape. */
export function checkDefinition(source: Source, digests: Reach["digests"]): void {
  const root = asMap(source.value);
  if (root === undefined) {
    source.report("not-a-map", [], "a definition must be a map with `stages` or `jobs`");
    return;
  }
  const hasStages = Object.hasOwn(root, "stages");
  checkOneShape(source, root);
  refuseExpressions(source, root["variables"], ["variables"], "`variables`");
  const stages = hasStages ? mapsOf(root["stages"], ["stages"]) : [{ value: root, path: [] }];
  const reach = reachOf(root, stages, digests);
  checkPipelineBlocks(source, root, jobsByName(stages), reach);
  checkStages(source, root, stages, hasStages, reach);
}

/** What the expressions of the pipeline itself can read; those of stages, jobs and steps can read more. */
function reachOf(root: Raw, stages: readonly Located[], digests: Reach["digests"]): Reach {
  return {
    types: pipelineTypes(root),
    variables: declaredVariables(root),
    env: [],
    jobs: NO_JOBS,
    allJobs: new Set(jobsByName(stages).keys()),
    steps: new Map(),
    allSteps: new Set(),
    digests,
  };
}

function checkOneShape(source: Source, root: Raw): void {
  const [hasStages, hasJobs] = [Object.hasOwn(root, "stages"), Object.hasOwn(root, "jobs")];
  if (hasStages && hasJobs) {
    source.report("jobs-or-stages", ["jobs"], "give either `stages` or `jobs`, not both", { spot: "key" });
  } else if (!hasStages && !hasJobs && !Object.keys(root).some(isMeantForJobs)) {
    source.report("jobs-or-stages", [], "a definition needs `stages`, or `jobs` as a shorthand");
  }
}

/** True for a misspelt `stages` or `jobs`, which is already reported as an unknown key. */
function isMeantForJobs(key: string): boolean {
  return key === "content" || ["stages", "jobs"].includes(meantKey([], key) ?? "");
}

function checkPipelineBlocks(source: Source, root: Raw, jobs: ReadonlyMap<string, Raw>, reach: Reach): void {
  const { pipelineEnv, pipelineConcurrency } = EXPRESSION_PLACES;
  const here = { value: root, path: [] };
  refuseBothSpellings(source, here, ["source", "approval", "target", "notify", "triggers"]);
  checkEnvNames(source, root["env"], ["env"]);
  checkTexts(source, root["env"], ["env"], pipelineEnv, reach);
  checkConcurrency(source, here, pipelineConcurrency, reach);
  checkApproval(source, here, reach);
  checkSource(source, here, reach);
  checkTarget(source, here, reach);
  // Notifications of the run are sent after its end, when all of its jobs have ended.
  checkNotify(source, here, { ...reach, jobs: endedJobs(jobs) });
  checkTriggers(source, root, reach);
}

function checkStages(source: Source, root: Raw, stages: readonly Located[], hasStages: boolean, outer: Reach): void {
  const stageNames = new Set<string>();
  const jobNames = new Set<string>();
  const before = new Map<string, Raw>();
  let steps = 0;
  let needs = 0;
  for (const stage of stages) {
    const { value, path } = stage;
    const reach = { ...outer, jobs: endedJobs(before) };
    if (hasStages) {
      checkName(source, stageNames, stage, "stage");
      refuseBothSpellings(source, stage, ["approval"]);
      refuseExpressions(source, value["name"], [...path, "name"], "the names of stages");
      checkCondition(source, value["when"], [...path, "when"], EXPRESSION_PLACES.stageWhen, reach);
      checkApproval(source, stage, reach);
    }
    const jobs = mapsOf(value["jobs"], [...path, "jobs"]);
    const surroundings: JobSurroundings = {
      names: jobNames,
      before,
      siblings: jobsByName([stage]),
      pipelineEnv: root["env"],
    };
    const checked = jobs.map((job): CheckedJob => checkJob(source, job, surroundings, outer));
    for (const job of checked) steps += job.steps * job.cells;
    needs += checkNeeds(source, checked);
    for (const job of jobs) for (const name of nameOf(job)) before.set(name, job.value);
  }
  checkSums(source, steps, needs);
}

function jobsByName(stages: readonly Located[]): ReadonlyMap<string, Raw> {
  const jobs = stages.flatMap(({ value }) => mapsOf(value["jobs"], []));
  return new Map(jobs.flatMap((job) => nameOf(job).map((name) => [name, job.value] as const)));
}

function nameOf({ value: { name } }: Located): readonly string[] {
  return typeof name === "string" ? [name] : [];
}

function checkSums(source: Source, steps: number, needs: number): void {
  if (steps > LIMITS.steps) {
    const message = `a run may have ${LIMITS.steps} steps; with all matrix cells, this one has ${steps}`;
    source.report("step-limit", [], message);
  }
  if (needs > LIMITS.needs) {
    const message = `the jobs of a run may have ${LIMITS.needs} needs; with all matrix cells, these have ${needs}`;
    source.report("needs-limit", [], message);
  }
}
