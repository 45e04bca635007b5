/**
 * The artifacts and the test reports of a step: texts with expressions, and what a name or a pattern must be once its value
 * is known. Pure.
 */
import type { DiagnosticCode } from "../definition/text/diagnostics.ts";
import { LIMITS } from "../definition/schema/limits.ts";
import { toPointer } from "../domain/json-pointer.ts";
import { NOT_IN_NAMES } from "../domain/names.ts";
import type { StepSpec } from "../domain/plan.ts";
import { leadsOut } from "../domain/workspace-paths.ts";
import { mapTexts } from "./map-texts.ts";

/** What of a step names files. */
export type StepFiles = Pick<StepSpec, "artifacts" | "junit">;

/** Where a text stands in {@link StepFiles}. */
type FilesPath = readonly (string | number)[];

const UNFIT_NAME = new RegExp(`[${NOT_IN_NAMES}]`, "u");
const MAX_PATTERN_CHARS = 4_096;

/** `change` gets each name and pattern, with its place. */
export function mapFiles(
  { artifacts, junit }: StepFiles,
  change: (text: string, path: FilesPath) => string,
): StepFiles {
  return {
    artifacts: artifacts.map((rule, at) => ({
      ...rule,
      name: change(rule.name, ["artifacts", at, "name"]),
      paths: mapTexts(rule.paths, ["artifacts", at, "paths"], change) as readonly string[],
    })),
    ...(junit !== undefined && { junit: mapTexts(junit, ["junit"], change) as readonly string[] }),
  };
}

export interface FilesProblem {
  readonly code: DiagnosticCode;
  readonly path: FilesPath;
  /** For people; it contains no value of an expression. */
  readonly message: string;
}

/**
 * What is wrong with names and patterns, where `isKnown` is true of their JSON pointers. The definition's check has seen those
 * without expressions; a value is known only here.
 */
export function problemsOfFiles(files: StepFiles, isKnown: (pointer: string) => boolean): readonly FilesProblem[] {
  const problems: FilesProblem[] = [];
  const names = files.artifacts.map(({ name }) => name);
  mapFiles(files, (text, path) => {
    if (!isKnown(toPointer(path))) return text;
    const problem = path.at(-1) === "name" ? problemOfName(text, names) : problemOfPattern(text);
    if (problem !== undefined) problems.push({ code: problem[0], path, message: `${wordsOf(path)} ${problem[1]}` });
    return text;
  });
  return problems;
}

/** `names`: those of all artifacts of the step, this one included. */
function problemOfName(name: string, names: readonly string[]): readonly [DiagnosticCode, string] | undefined {
  if (name.trim() === "") return ["invalid-value", "would be empty"];
  if (name.length > LIMITS.nameChars) return ["invalid-value", `would have more than ${LIMITS.nameChars} characters`];
  if (UNFIT_NAME.test(name)) {
    return ["invalid-value", "would have a control character, a line break or a mark that reorders text"];
  }
  const isTaken = names.filter((other) => other === name).length > 1;
  return isTaken ? ["duplicate-name", "would be that of another artifact of the step"] : undefined;
}

function problemOfPattern(pattern: string): readonly [DiagnosticCode, string] | undefined {
  if (pattern.trim() === "") return ["invalid-value", "would be empty"];
  if (pattern.length > MAX_PATTERN_CHARS)
    return ["invalid-value", `would have more than ${MAX_PATTERN_CHARS} characters`];
  return leadsOut(pattern) ? ["invalid-path", "would lead out of the workspace"] : undefined;
}

/** The place for people, who count from 1. */
export function wordsOf([kind, ...at]: FilesPath): string {
  const [first, part, second] = at;
  if (kind === "junit") return `path ${Number(first) + 1} of the reports`;
  const artifact = `artifact ${Number(first) + 1}`;
  return part === "name" ? `the name of ${artifact}` : `path ${Number(second) + 1} of ${artifact}`;
}
