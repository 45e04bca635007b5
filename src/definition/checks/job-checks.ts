/** The checks of one job: its cells, its blocks, its expressions and its steps. */
import { cellName } from "../../domain/plan.ts";
import {
  checkApproval,
  checkConcurrency,
  checkJobNotify,
  checkSource,
  checkTarget,
  refuseBothSpellings,
} from "./block-checks.ts";
import { matrixType } from "./context-types.ts";
import { toMatrix } from "../definition.ts";
import { EXPRESSION_PLACES } from "../text/expression-places.ts";
import { expandMatrix, knownCells, type Matrix } from "../matrix.ts";
import { checkContainer, checkServices, refuseContainerBeside } from "./container-checks.ts";
import { checkMatrix } from "./matrix-checks.ts";
import { checkEnvNames, checkName } from "./name-checks.ts";
import { sealSuccession, type NeedingJob } from "./needs.ts";
import { checkInside } from "./path-checks.ts";
import { asMap, type Located, mapsOf, type Raw, textsOf } from "../text/raw.ts";
import { endedJobs, type Reach } from "./reach.ts";
import { clip } from "../text/read-text.ts";
import { checkRetry } from "./retry-checks.ts";
import { matrixSchema } from "../schema/job.ts";
import { checkLabelExpressions } from "./selector-checks.ts";
import type { Path, Source } from "../text/source.ts";
import { checkCondition, checkTexts, refuseExpressions } from "./texts.ts";
import { builtinOf } from "../../domain/builtins.ts";
import { checkUses } from "./uses.ts";

/** What the check of a job needs to know about the other jobs. */
export interface JobSurroundings {
  /** Names of the jobs and cells that are checked already; the check adds those of the job. */
  readonly names: Set<string>;
  /** Jobs of earlier stages by name. */
  readonly before: ReadonlyMap<string, Raw>;
  /** Jobs of the same stage by name. */
  readonly siblings: ReadonlyMap<string, Raw>;
  readonly pipelineEnv: unknown;
}

export interface CheckedJob extends NeedingJob {
  readonly steps: number;
}

const BLOCKS = ["approval", "source", "target", "notify"] as const;

/** Reports what is wrong with a job; answers what the check of needs and the bound on steps read of it. */
export function checkJob(source: Source, job: Located, surroundings: JobSurroundings, outer: Reach): CheckedJob {
  const { value, path } = job;
  const name = typeof value["name"] === "string" ? value["name"] : undefined;
  checkName(source, surroundings.names, job, "job");
  refuseExpressions(source, name, [...path, "name"], "the names of jobs");
  refuseExpressions(source, value["agentSelector"], [...path, "agentSelector"], "an agent selector");
  const expressions = asMap(value["agentSelector"])?.["matchExpressions"];
  checkLabelExpressions(source, expressions, [...path, "agentSelector", "matchExpressions"]);
  checkRetry(source, job);

  const { before, siblings, pipelineEnv } = surroundings;
  const upstream: Reach = { ...outer, jobs: endedJobs(before, () => sealSuccession(value, siblings)) };
  const { cells, type } = checkCells(source, name ?? "", job, upstream, surroundings);
  const reach: Reach = { ...upstream, types: new Map([...upstream.types, ["matrix", type]]), env: [pipelineEnv] };
  checkCondition(source, value["when"], [...path, "when"], EXPRESSION_PLACES.jobWhen, reach);
  checkBlocks(source, job, reach);
  checkEnvNames(source, value["env"], [...path, "env"]);
  checkTexts(source, value["env"], [...path, "env"], EXPRESSION_PLACES.jobEnv, reach);
  checkContainer(source, value["container"], [...path, "container"], reach);
  checkServices(source, value["services"], [...path, "services"], reach);
  const steps = checkSteps(source, job, { ...reach, env: [pipelineEnv, value["env"]] });
  return { name, needs: value["needs"], path, cells, steps };
}

function checkCells(
  source: Source,
  jobName: string,
  { value, path: jobPath }: Located,
  upstream: Reach,
  { names }: JobSurroundings,
): { readonly cells: number; readonly type: ReturnType<typeof matrixType> } {
  const raw = value["matrix"];
  const path = [...jobPath, "matrix"];
  if (raw === undefined) return { cells: 1, type: matrixType(undefined) };
  checkAxisExpressions(source, raw, path, upstream);
  const { data } = matrixSchema.safeParse(raw);
  // The fields of an invalid matrix are known too, so that expressions that read them cause no further errors.
  if (data === undefined) return { cells: 1, type: matrixType({ axes: [], include: [fieldsIn(raw)] }) };
  const matrix: Matrix = toMatrix(data);
  const cells = checkMatrix(source, matrix, path);
  const known = cells === 0 ? undefined : knownCells(matrix);
  for (const cell of known === undefined ? [] : expandMatrix(known)) {
    // The name of a cell must differ from the names of all jobs and cells of the run.
    const name = cellName(jobName, cell);
    if (cell.length > 0 && names.has(name)) {
      source.report("duplicate-name", path, `another job already has the name "${clip(name)}"`);
      break;
    }
    names.add(name);
  }
  return { cells, type: matrixType(matrix) };
}

function checkAxisExpressions(source: Source, raw: unknown, path: Path, upstream: Reach): void {
  const { include, exclude, axes } = asMap(raw) ?? {};
  refuseExpressions(source, include, [...path, "include"], "`include`");
  refuseExpressions(source, exclude, [...path, "exclude"], "`exclude`");
  for (const [name, values] of Object.entries(asMap(axes) ?? {})) {
    const at = [...path, "axes", name];
    if (typeof values !== "string") refuseExpressions(source, values, at, "the values of an axis");
    else checkTexts(source, values, at, EXPRESSION_PLACES.axis, upstream, { use: "value" });
  }
}

function checkBlocks(source: Source, job: Located, reach: Reach): void {
  refuseBothSpellings(source, job, BLOCKS);
  checkConcurrency(source, job, EXPRESSION_PLACES.jobConcurrency, reach);
  checkApproval(source, job, reach);
  checkSource(source, job, reach);
  checkTarget(source, job, reach);
  checkJobNotify(source, job, reach);
}

/** Reports what is wrong with the steps of a job; answers how many steps the job has. */
function checkSteps(source: Source, { value: job, path }: Located, outer: Reach): number {
  const steps = mapsOf(job["steps"], [...path, "steps"]);
  const names = new Set<string>();
  const ids = new Set<string>();
  const ended = new Map<string, Raw>();
  const allSteps = new Set(steps.flatMap(({ value: { id } }) => (typeof id === "string" ? [id] : [])));
  const reach: Reach = { ...outer, steps: ended, allSteps };
  for (const step of steps) {
    const { id } = step.value;
    checkName(source, names, step, "step");
    checkName(source, ids, step, "step", "id");
    checkStep(source, step, reach);
    if (typeof id === "string") ended.set(id, step.value);
  }
  checkTexts(source, job["outputs"], [...path, "outputs"], EXPRESSION_PLACES.jobOutputs, reach);
  return steps.length;
}

function checkStep(source: Source, step: Located, reach: Reach): void {
  const { value, path } = step;
  const { name, uses, env, workingDirectory: directory } = value;
  checkUses(source, step);
  checkRetry(source, step);
  checkEnvNames(source, env, [...path, "env"]);
  checkTexts(source, env, [...path, "env"], EXPRESSION_PLACES.stepEnv, reach);
  checkCondition(source, value["when"], [...path, "when"], EXPRESSION_PLACES.stepWhen, reach);
  checkTexts(source, name, [...path, "name"], EXPRESSION_PLACES.stepName, reach);
  const isShell = typeof uses === "string" && builtinOf(uses) === "shell";
  checkTexts(
    source,
    value["args"],
    [...path, "args"],
    EXPRESSION_PLACES.stepArgs,
    { ...reach, env: [...reach.env, env] },
    {
      use: isShell ? "text" : "value",
      isScript: (at) => isShell && at.length === path.length + 2 && at.at(-1) === "script",
    },
  );
  checkContainer(source, value["container"], [...path, "container"], reach);
  refuseContainerBeside(source, step);
  refuseExpressions(source, value["action"], [...path, "action"], "`action`");
  refuseExpressions(source, directory, [...path, "workingDirectory"], "`workingDirectory`");
  if (typeof directory === "string") checkInside(source, directory, [...path, "workingDirectory"]);
  checkArtifacts(source, step, reach);
  const { junit, ...others } = asMap(value["reports"]) ?? {};
  refuseExpressions(source, others, [...path, "reports"], "`reports`");
  checkPatterns(source, junit, [...path, "reports", "junit"], reach);
}

function checkArtifacts(source: Source, { value, path }: Located, reach: Reach): void {
  const kept = new Set<unknown>();
  for (const { value: artifact, path: at } of mapsOf(value["artifacts"], [...path, "artifacts"])) {
    const { name, paths, ...others } = artifact;
    if (typeof name === "string" && kept.has(name)) {
      source.report("duplicate-name", [...at, "name"], `the step already has an artifact named "${clip(name)}"`);
    }
    kept.add(name);
    checkTexts(source, name, [...at, "name"], EXPRESSION_PLACES.stepFiles, reach);
    checkPatterns(source, paths, [...at, "paths"], reach);
    refuseExpressions(source, others, at, "`retention` and `ifMissing`");
  }
}

function checkPatterns(source: Source, patterns: unknown, path: Path, reach: Reach): void {
  for (const pattern of textsOf(patterns, path)) {
    checkInside(source, pattern.text, pattern.path);
    if (pattern.text.includes("\0")) continue;
    checkTexts(source, pattern.text, pattern.path, EXPRESSION_PLACES.stepFiles, reach);
  }
}

function fieldsIn(matrix: unknown): readonly (readonly [string, string])[] {
  const included = mapsOf(asMap(matrix)?.["include"], []).flatMap(({ value }) => Object.keys(value));
  const names = [...Object.keys(asMap(asMap(matrix)?.["axes"]) ?? {}), ...included];
  return names.map((name) => [name, ""]);
}
