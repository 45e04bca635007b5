/**
 * What concerns several values of a definition at once: names, needs, matrices, paths and expressions. Reads the plain
 * value with care, so that it finds its problems also where the shape has others.
 */
import { posix } from "node:path";
import { parseTemplate } from "../expressions/template.ts";
import { LIMITS } from "./limits.ts";
import { countCells, toMatrix } from "./matrix.ts";
import { didYouMean } from "./nearest.ts";
import type { Path, Source } from "./source.ts";
import { builtinOf, checkUses } from "./uses.ts";

type Raw = Readonly<Record<string, unknown>>;

interface Located {
  readonly value: Raw;
  readonly path: Path;
}

/** Contexts that expressions may read now, and those that come later. */
export const CONTEXTS = ["trigger", "variables", "matrix", "run", "pipeline", "project"] as const;
const LATER_CONTEXTS = ["env", "secrets", "jobs", "steps"];

export function checkDefinition(source: Source): void {
  const root = asMap(source.value);
  if (root === undefined) {
    source.report("not-a-map", [], "a definition is a map with `stages` or `jobs`");
    return;
  }
  if ("stages" in root === "jobs" in root) {
    source.report(
      "jobs-or-stages",
      "jobs" in root ? ["jobs"] : [],
      "jobs" in root
        ? "give either `stages` or `jobs`, not both"
        : "a definition needs `stages`, or `jobs` as a shorthand",
      { spot: "key" },
    );
  }
  const stages = "stages" in root ? listOf(root["stages"], ["stages"]) : [{ value: root, path: [] }];
  checkNames(source, "stages" in root ? stages : [], "stage");
  const jobsByStage = stages.map(({ value, path }) => listOf(value["jobs"], [...path, "jobs"]));
  checkNames(source, jobsByStage.flat(), "job");
  checkEnv(source, root["env"], ["env"], []);
  let steps = 0;
  for (const jobs of jobsByStage) {
    checkNeeds(source, jobs);
    for (const job of jobs) steps += checkJob(source, job);
  }
  if (steps > LIMITS.steps) {
    source.report(
      "step-limit",
      [],
      `a run may have ${LIMITS.steps} steps; with every matrix cell this one has ${steps}`,
    );
  }
}

/** Answers how many steps the job has with all its cells. */
function checkJob(source: Source, { value: job, path }: Located): number {
  const matrix = asMap(job["matrix"]);
  const axes = Object.keys(asMap(matrix?.["axes"]) ?? {});
  const included = listOf(matrix?.["include"], []).flatMap(({ value }) => Object.keys(value));
  const fields = [...new Set([...axes, ...included])];
  const cells = matrix === undefined ? 1 : checkMatrix(source, matrix, [...path, "matrix"]);
  checkSelector(source, job["agentSelector"], [...path, "agentSelector"]);
  checkEnv(source, job["env"], [...path, "env"], fields);
  const steps = listOf(job["steps"], [...path, "steps"]);
  checkNames(source, steps, "step");
  for (const step of steps) checkStep(source, step, fields);
  return steps.length * cells;
}

function checkMatrix(source: Source, matrix: Raw, path: Path): number {
  const cells = countCells(toMatrix(matrix));
  if (cells > LIMITS.matrixCells) {
    source.report("matrix-limit", path, `a matrix may have ${LIMITS.matrixCells} cells; this one has ${cells}`);
    return 0;
  }
  if (cells === 0) source.report("invalid-matrix", path, "this matrix has no cell: give `axes` or `include`");
  return cells;
}

function checkStep(source: Source, { value: step, path }: Located, matrixFields: readonly string[]): void {
  checkUses(source, path, step);
  checkEnv(source, step["env"], [...path, "env"], matrixFields);
  const isShell = typeof step["uses"] === "string" && builtinOf(step["uses"]) === "shell";
  forEachText(step["args"], [...path, "args"], (text, at) => {
    const isScript = isShell && at.length === path.length + 2 && at.at(-1) === "script";
    checkText(source, text, at, matrixFields, isScript);
  });
  const directory = step["workingDirectory"];
  if (typeof directory === "string" && leavesWorkspace(directory)) {
    source.report("invalid-path", [...path, "workingDirectory"], `"${directory}" leads out of the workspace`, {
      hint: "give a path relative to the workspace, without `..` at its beginning",
    });
  }
}

function leavesWorkspace(directory: string): boolean {
  const normal = posix.normalize(directory);
  return posix.isAbsolute(normal) || normal === ".." || normal.startsWith("../") || directory.includes("\0");
}

function checkEnv(source: Source, env: unknown, path: Path, matrixFields: readonly string[]): void {
  for (const [name, value] of Object.entries(asMap(env) ?? {})) {
    if (!/^[A-Za-z_]\w*$/.test(name)) {
      source.report("invalid-value", [...path, name], `"${name}" cannot be the name of an environment variable`, {
        spot: "key",
      });
    }
    if (typeof value === "string") checkText(source, value, [...path, name], matrixFields, false);
  }
}

function checkText(source: Source, text: string, path: Path, matrixFields: readonly string[], isScript: boolean): void {
  const { references, problems } = parseTemplate(text, CONTEXTS);
  for (const { kind, name, message } of problems) {
    if (kind === "unknown-context" && LATER_CONTEXTS.includes(name)) {
      source.report("not-supported-yet", path, `the context \`${name}\` is not supported yet`);
    } else if (kind === "unknown-context") {
      const hint = `known contexts: ${CONTEXTS.join(", ")}`;
      source.report("unknown-context", path, `unknown context "${name}"${didYouMean(name, CONTEXTS)}`, { hint });
    } else if (kind === "unknown-function") {
      source.report("unknown-function", path, `unknown function "${name}"`);
    } else {
      source.report("expression-syntax", path, message);
    }
  }
  for (const { context, field } of references) {
    if (context !== "matrix" || field === null || matrixFields.includes(field)) continue;
    source.report("unknown-context", path, `this job's matrix has no "${field}"${didYouMean(field, matrixFields)}`);
  }
  if (isScript && references.some(({ context }) => context === "trigger")) {
    source.report("script-injection", path, "a trigger value inside a script can run as code", {
      severity: "warning",
      hint: "put it into `env` and read the variable in the script",
    });
  }
}

function checkSelector(source: Source, selector: unknown, path: Path): void {
  for (const { value, path: at } of listOf(asMap(selector)?.["matchExpressions"], [...path, "matchExpressions"])) {
    const operator = value["operator"];
    const values = Array.isArray(value["values"]) ? value["values"].map(String) : [];
    const problem = selectorProblem(operator, values);
    if (problem !== undefined) source.report("invalid-selector", at, problem);
  }
}

function selectorProblem(operator: unknown, values: readonly string[]): string | undefined {
  switch (operator) {
    case "In":
    case "NotIn":
      return values.length === 0 ? `\`${operator}\` needs at least one value` : undefined;
    case "Exists":
    case "NotExists":
      return values.length > 0 ? `\`${operator}\` takes no values` : undefined;
    case "Gt":
    case "Lt":
      return values.length === 1 && /^-?\d+$/.test(values[0]!) ? undefined : `\`${operator}\` needs one whole number`;
    default:
      return undefined;
  }
}

function checkNames(source: Source, items: readonly Located[], kind: string): void {
  const seen = new Map<string, Path>();
  for (const { value, path } of items) {
    const name = value["name"];
    if (typeof name !== "string") continue;
    const first = seen.get(name);
    if (first === undefined) seen.set(name, path);
    else source.report("duplicate-name", [...path, "name"], `another ${kind} is called "${name}" already`);
  }
}

function checkNeeds(source: Source, jobs: readonly Located[]): void {
  const names = jobs.map(({ value }) => value["name"]).filter((name) => typeof name === "string");
  const needs = new Map<string, readonly string[]>();
  for (const { value, path } of jobs) {
    const given = [value["needs"] ?? []].flat().filter((need) => typeof need === "string");
    const known = given.filter((need) => names.includes(need));
    if (typeof value["name"] === "string") needs.set(value["name"], known);
    for (const need of given) {
      if (names.includes(need)) continue;
      source.report(
        "unknown-job",
        [...path, "needs"],
        `there is no job "${need}" in this stage${didYouMean(need, names)}`,
        {
          hint: "jobs of earlier stages have always ended before; they need not be named",
        },
      );
    }
  }
  for (const cycle of findCycles(needs)) {
    const { path } = jobs.find(({ value }) => value["name"] === cycle[0])!;
    source.report(
      "cyclic-needs",
      [...path, "needs"],
      `these jobs need one another: ${[...cycle, cycle[0]].join(" -> ")}`,
    );
  }
}

/** One cycle for each group of jobs that need one another. */
function findCycles(needs: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const done = new Set<string>();
  const cycles: string[][] = [];
  for (const start of needs.keys()) {
    // Depth first, without recursion: a definition may have thousands of jobs in one chain.
    const trail: { name: string; rest: string[] }[] = [];
    const enter = (name: string): void => {
      if (!done.has(name)) trail.push({ name, rest: [...(needs.get(name) ?? [])] });
    };
    enter(start);
    while (trail.length > 0) {
      const top = trail.at(-1)!;
      const next = top.rest.pop();
      if (next === undefined) {
        done.add(top.name);
        trail.pop();
        continue;
      }
      const at = trail.findIndex(({ name }) => name === next);
      if (at >= 0) cycles.push(trail.slice(at).map(({ name }) => name));
      else enter(next);
    }
  }
  return cycles;
}

function forEachText(value: unknown, path: Path, visit: (text: string, path: Path) => void): void {
  if (typeof value === "string") visit(value, path);
  else if (Array.isArray(value)) value.forEach((item, index) => forEachText(item, [...path, index], visit));
  else for (const [key, item] of Object.entries(asMap(value) ?? {})) forEachText(item, [...path, key], visit);
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
