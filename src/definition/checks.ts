/**
 * What concerns several values of a definition at once: names, needs, matrices, paths and expressions. Reads the plain
 * value with care, so that it finds its problems also where the shape has others.
 */
import { posix } from "node:path";
import { toMatrix } from "./definition.ts";
import { LIMITS } from "./limits.ts";
import { cellName, expandMatrix, type Matrix, matrixFields } from "./matrix.ts";
import { checkMatrix } from "./matrix-checks.ts";
import { checkNeeds, type NeedingJob } from "./needs.ts";
import { clip } from "./read-text.ts";
import { matrixSchema } from "./schema.ts";
import { checkLabelExpressions } from "./selector-checks.ts";
import type { Path, Source } from "./source.ts";
import { checkText, CONTEXTS, forEachText, refuseExpressions } from "./texts.ts";
import { builtinOf, checkUses } from "./uses.ts";

type Raw = Readonly<Record<string, unknown>>;

interface Located {
  readonly value: Raw;
  readonly path: Path;
}

interface CheckedJob extends NeedingJob {
  readonly steps: number;
}

/** Reports what is wrong with a definition as a whole; its shape is checked apart. */
export function checkDefinition(source: Source): void {
  const root = asMap(source.value);
  if (root === undefined) {
    source.report("not-a-map", [], "a definition is a map with `stages` or `jobs`");
    return;
  }
  const hasStages = Object.hasOwn(root, "stages");
  checkOneShape(source, hasStages, Object.hasOwn(root, "jobs"));
  refuseExpressions(source, root["variables"], ["variables"], "`variables`");
  checkEnv(source, root["env"], ["env"], []);
  const stages = hasStages ? listOf(root["stages"], ["stages"]) : [{ value: root, path: [] }];
  const stageNames = new Set<string>();
  const jobNames = new Set<string>();
  let steps = 0;
  let needs = 0;
  for (const { value: stage, path } of stages) {
    if (hasStages) checkName(source, stageNames, stage, path, "stage");
    const jobs = listOf(stage["jobs"], [...path, "jobs"]).map((job) => checkJob(source, job, jobNames));
    for (const job of jobs) steps += job.steps * job.cells;
    needs += checkNeeds(source, jobs);
  }
  if (steps > LIMITS.steps) {
    const message = `a run may have ${LIMITS.steps} steps; with every matrix cell this one has ${steps}`;
    source.report("step-limit", [], message);
  }
  if (needs > LIMITS.needs) {
    const message = `the jobs of a run may have ${LIMITS.needs} needs; with every matrix cell these have ${needs}`;
    source.report("needs-limit", [], message);
  }
}

function checkOneShape(source: Source, hasStages: boolean, hasJobs: boolean): void {
  if (hasStages && hasJobs) {
    source.report("jobs-or-stages", ["jobs"], "give either `stages` or `jobs`, not both", { spot: "key" });
  } else if (!hasStages && !hasJobs) {
    source.report("jobs-or-stages", [], "a definition needs `stages`, or `jobs` as a shorthand");
  }
}

function checkJob(source: Source, located: Located, names: Set<string>): CheckedJob {
  const { value: job, path } = located;
  const name = typeof job["name"] === "string" ? job["name"] : undefined;
  checkName(source, names, job, path, "job");
  refuseExpressions(source, name, [...path, "name"], "the names of jobs");
  refuseExpressions(source, job["matrix"], [...path, "matrix"], "a matrix");
  refuseExpressions(source, job["agentSelector"], [...path, "agentSelector"], "an agent selector");
  const expressions = asMap(job["agentSelector"])?.["matchExpressions"];
  checkLabelExpressions(source, expressions, [...path, "agentSelector", "matchExpressions"]);
  const { cells, fields } = checkCells(source, name ?? "", job["matrix"], [...path, "matrix"], names);
  checkEnv(source, job["env"], [...path, "env"], fields);
  const steps = listOf(job["steps"], [...path, "steps"]);
  const stepNames = new Set<string>();
  for (const step of steps) {
    checkName(source, stepNames, step.value, step.path, "step");
    checkStep(source, step, fields);
  }
  return { name, needs: job["needs"], path, cells, steps: steps.length };
}

function checkCells(
  source: Source,
  jobName: string,
  raw: unknown,
  path: Path,
  names: Set<string>,
): { readonly cells: number; readonly fields: readonly string[] } {
  if (raw === undefined) return { cells: 1, fields: [] };
  const { data } = matrixSchema.safeParse(raw);
  // Fields of a bad matrix are known all the same, so that it is not told again wherever one is read.
  if (data === undefined) return { cells: 1, fields: namesIn(raw) };
  const matrix: Matrix = toMatrix(data);
  const cells = checkMatrix(source, matrix, path);
  for (const cell of cells === 0 ? [] : expandMatrix(matrix)) {
    // Cells share the space of names with the other jobs of the run.
    const name = cellName(jobName, cell);
    if (cell.length > 0 && names.has(name)) {
      source.report("duplicate-name", path, `another job is called "${clip(name)}" already`);
      break;
    }
    names.add(name);
  }
  return { cells, fields: matrixFields(matrix) };
}

function checkStep(source: Source, { value: step, path }: Located, fields: readonly string[]): void {
  checkUses(source, path, step);
  checkEnv(source, step["env"], [...path, "env"], fields);
  const { name, uses, workingDirectory: directory } = step;
  if (typeof name === "string") {
    checkText(source, name, [...path, "name"], { matrixFields: fields, contexts: ["matrix"], isScript: false });
  }
  const isShell = typeof uses === "string" && builtinOf(uses) === "shell";
  forEachText(step["args"], [...path, "args"], (text, at) => {
    const isScript = isShell && at.length === path.length + 2 && at.at(-1) === "script";
    checkText(source, text, at, { matrixFields: fields, contexts: CONTEXTS, isScript });
  });
  refuseExpressions(source, step["action"], [...path, "action"], "`action`");
  refuseExpressions(source, directory, [...path, "workingDirectory"], "`workingDirectory`");
  if (typeof directory === "string" && leavesWorkspace(directory)) {
    source.report("invalid-path", [...path, "workingDirectory"], `"${clip(directory)}" leads out of the workspace`, {
      hint: "give a path relative to the workspace, without `..` at its beginning",
    });
  }
}

function leavesWorkspace(directory: string): boolean {
  const normal = posix.normalize(directory);
  return posix.isAbsolute(normal) || normal === ".." || normal.startsWith("../") || directory.includes("\0");
}

function checkEnv(source: Source, env: unknown, path: Path, fields: readonly string[]): void {
  for (const [name, value] of Object.entries(asMap(env) ?? {})) {
    const at = [...path, name];
    if (!/^[A-Za-z_]\w*$/.test(name)) {
      const message = `"${clip(name)}" cannot be the name of an environment variable`;
      source.report("invalid-value", at, message, { spot: "key" });
    }
    if (typeof value !== "string") continue;
    checkText(source, value, at, { matrixFields: fields, contexts: CONTEXTS, isScript: false });
  }
}

function checkName(source: Source, names: Set<string>, { name }: Raw, path: Path, kind: string): void {
  if (typeof name !== "string") return;
  if (names.has(name)) {
    source.report("duplicate-name", [...path, "name"], `another ${kind} is called "${clip(name)}" already`);
  }
  names.add(name);
}

function namesIn(matrix: unknown): readonly string[] {
  const included = listOf(asMap(matrix)?.["include"], []).flatMap(({ value }) => Object.keys(value));
  return [...Object.keys(asMap(asMap(matrix)?.["axes"]) ?? {}), ...included];
}

function asMap(value: unknown): Raw | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Raw) : undefined;
}

function listOf(value: unknown, path: Path): readonly Located[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item, index) => {
    const map = asMap(item);
    return map === undefined ? [] : [{ value: map, path: [...path, index] }];
  });
}
